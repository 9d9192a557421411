/* Prints name, size, alignment and the offset of the last member of CUDA's vector types: those of its own header if the
   compiler finds it, else types as its manual describes them. */
#include <stddef.h>
#include <stdio.h>

#if __has_include(<vector_types.h>)
#include <vector_types.h>
#else
#define VECTORS(element, name, small, large)                                             \
    typedef struct __attribute__((aligned(small))) { element x, y; } name##2;            \
    typedef struct { element x, y, z; } name##3;                                         \
    typedef struct __attribute__((aligned(large))) { element x, y, z, w; } name##4;
VECTORS(signed char, char, 2, 4)
VECTORS(unsigned char, uchar, 2, 4)
VECTORS(short, short, 4, 8)
VECTORS(unsigned short, ushort, 4, 8)
VECTORS(int, int, 8, 16)
VECTORS(unsigned int, uint, 8, 16)
VECTORS(long long, longlong, 16, 16)
VECTORS(unsigned long long, ulonglong, 16, 16)
VECTORS(float, float, 8, 16)
VECTORS(double, double, 16, 16)
#endif

/* cuda_fp16.h and cuda_bf16.h are C++ */
typedef struct __attribute__((aligned(4))) { unsigned short x, y; } half2;

#define SHOW(type, last) printf("%s %zu %zu %zu\n", #type, sizeof(type), _Alignof(type), offsetof(type, last))
#define SHOW_ALL(name) SHOW(name##2, y), SHOW(name##3, z), SHOW(name##4, w)

int main(void) {
    SHOW_ALL(char), SHOW_ALL(uchar), SHOW_ALL(short), SHOW_ALL(ushort), SHOW_ALL(int), SHOW_ALL(uint);
    SHOW_ALL(longlong), SHOW_ALL(ulonglong), SHOW_ALL(float), SHOW_ALL(double), SHOW(half2, y);
    return 0;
}
