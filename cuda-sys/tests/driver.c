/* A stand-in for a CUDA driver, for the tests of lookup. Every function returns a number of its own. VERSION is the CUDA
   version that it reports; with LOOKUP it has cuGetProcAddress_v2. */
#include <string.h>

int lookups = 0;

int cuDriverGetVersion(int *version) { *version = VERSION; return 0; }
int cuInit(unsigned flags) { (void)flags; return 1; }
int cuMemAlloc_v2(void *address, unsigned long long size) { (void)address; (void)size; return 2; }

#ifdef LOOKUP
static int alloc(void *address, unsigned long long size) { (void)address; (void)size; return 3; }
static int create(void *context, void *affinity, int count, unsigned flags, int device) {
    (void)context; (void)affinity; (void)count; (void)flags; (void)device; return 4;
}
static int copy_legacy(unsigned long long to, unsigned long long from, unsigned long long size) {
    (void)to; (void)from; (void)size; return 5;
}
static int copy_per_thread(unsigned long long to, unsigned long long from, unsigned long long size) {
    (void)to; (void)from; (void)size; return 6;
}

/* Like the real one, returns the newest variant that is not newer than `version`. */
int cuGetProcAddress_v2(const char *name, void **function, int version, unsigned long long flags, int *found) {
    lookups++;
    *function = 0;
    *found = 1;
    if (!strcmp(name, "cuMemAlloc") && version >= 3020) *function = (void *)alloc;
    if (!strcmp(name, "cuCtxCreate") && version >= 11040) *function = (void *)create;
    if (!strcmp(name, "cuMemcpy")) *function = (void *)(flags == 2 ? copy_per_thread : copy_legacy);
    if (!*function) return 500;
    *found = 0;
    return 0;
}
#endif
