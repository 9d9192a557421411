/* A tool for NVTX, which prints the calls that it receives. With FAIL it sets its functions and then reports a failure. */
#include <stddef.h>
#include <stdio.h>

typedef void (*function)(void);
struct callbacks {
    size_t size;
    int (*functions_of)(unsigned module, function ***table, unsigned *size);
};

static int depth;
static int push(const char *name) { printf("push %s\n", name); fflush(stdout); return depth++; }
static int pop(void) { printf("pop\n"); fflush(stdout); return --depth; }
static void *create(const char *name) { printf("domain %s\n", name); fflush(stdout); return (void *)0x1000; }

int InitializeInjectionNvtx2(const void *(*table_of)(unsigned)) {
    const struct callbacks *callbacks = table_of(1);
    function **table;
    unsigned size;
    if (table_of(99) || !callbacks || callbacks->size < sizeof *callbacks) return 0;
    if (!callbacks->functions_of(1, &table, &size) || size != 16 || table[0] || table[16]) return 0;
    *table[9] = (function)push;
    *table[11] = (function)pop;
    if (!callbacks->functions_of(5, &table, &size) || size != 16) return 0;
    *table[12] = (function)create;
    if (callbacks->functions_of(3, &table, &size)) return 0;
#ifdef FAIL
    return 0;
#else
    return 1;
#endif
}
