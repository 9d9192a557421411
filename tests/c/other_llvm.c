/* A C program that opens the driver's library while another LLVM is in its global scope, as in programs that load Mesa's or a
 * database's, and then runs a kernel.
 *
 * Usage: other_llvm LIBCUDA LLVM...
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#define KERNEL                                                                                                         \
    ".version 7.8\n.target sm_75\n.address_size 64\n.visible .entry answer(.param .u64 out)\n{\n"                      \
    "\t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [out];\n\tst.global.u32 [%rd1], 42;\n\tret;\n}\n"

static void *driver;

static void *function(const char *name) {
    void *found = dlsym(driver, name);
    if (found == NULL) {
        printf("no %s: %s\n", name, dlerror());
        exit(1);
    }
    return found;
}

#define CALL(name, types, arguments)                                                                                   \
    do {                                                                                                               \
        int(*call) types;                                                                                              \
        *(void **)&call = function(name);                                                                              \
        int status = call arguments;                                                                                   \
        if (status != 0) {                                                                                             \
            printf("%s: %d\n", name, status);                                                                          \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

int main(int argc, char **argv) {
    for (int other = 2; other < argc; other++) {
        if (dlopen(argv[other], RTLD_NOW | RTLD_GLOBAL) == NULL) {
            printf("%s\n", dlerror());
            return 1;
        }
    }
    driver = dlopen(argv[1], RTLD_NOW);
    if (driver == NULL) {
        printf("%s\n", dlerror());
        return 1;
    }
    int device;
    unsigned answer = 0;
    unsigned long long out;
    void *context, *module, *kernel, *parameters[] = {&out};
    CALL("cuInit", (unsigned), (0));
    CALL("cuDeviceGet", (int *, int), (&device, 0));
    CALL("cuDevicePrimaryCtxRetain", (void **, int), (&context, device));
    CALL("cuCtxSetCurrent", (void *), (context));
    CALL("cuModuleLoadData", (void **, const void *), (&module, KERNEL));
    CALL("cuModuleGetFunction", (void **, void *, const char *), (&kernel, module, "answer"));
    CALL("cuMemAlloc_v2", (unsigned long long *, size_t), (&out, sizeof answer));
    CALL("cuLaunchKernel",
         (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **),
         (kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    CALL("cuMemcpyDtoH_v2", (void *, unsigned long long, size_t), (&answer, out, sizeof answer));
    CALL("cuMemFree_v2", (unsigned long long), (out));
    printf("the answer is %u beside %d\n", answer, argc - 2);
    return 0;
}
