/* Calls functions of the driver by their names, as clients do that do not link the library:
   a runtime that asks for undocumented tables before it initialises the driver, and one older than CUDA 13,
   which takes cuCtxGetDevice_v2 for a variant of cuCtxGetDevice and passes no context. */
#include <dlfcn.h>
#include <stdio.h>

typedef struct {
    unsigned char bytes[16];
} uuid;

static void *library;

static void *function(const char *name)
{
    void *found = dlsym(library, name);
    if (found == NULL)
        printf("%s is missing\n", name);
    return found;
}

int main(void)
{
    static const uuid runtime = {{0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a,
                                  0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9}};
    static const uuid other = {{0}};
    const void *table = &runtime;
    void *context = NULL;
    int device = -1;
    int (*export_table)(const void **, const uuid *);
    int (*init)(unsigned);
    int (*retain)(void **, int);
    int (*set_current)(void *);
    int (*get_device)(int *, void *);
    int (*synchronize)(void *);

    library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == NULL)
        return 2;
    *(void **)&export_table = function("cuGetExportTable");
    *(void **)&init = function("cuInit");
    *(void **)&retain = function("cuDevicePrimaryCtxRetain");
    *(void **)&set_current = function("cuCtxSetCurrent");
    *(void **)&get_device = function("cuCtxGetDevice_v2");
    *(void **)&synchronize = function("cuCtxSynchronize_v2");
    printf("other %d\n", export_table(&table, &other));
    printf("runtime %d\n", export_table(&table, &runtime));
    printf("again %d %d\n", export_table(&table, &runtime), table == NULL);
    printf("init %d\n", init(0));
    printf("retain %d\n", retain(&context, 0));
    printf("current %d\n", set_current(context));
    printf("garbage %d", get_device(&device, (void *)0xdeadbeef));
    printf(" %d", device);
    printf(" %d\n", synchronize((void *)0xdeadbeef));
    printf("context %d", get_device(&device, context));
    printf(" %d\n", synchronize(context));
    return 0;
}
