/* Compiles CUDA C++ with NVRTC, or NVVM IR with libNVVM, to PTX. Loads the library from a file and needs no toolkit's
 * headers: the prototypes are those of nvrtc.h and nvvm.h.
 *
 * Usage: compile nvrtc|nvvm LIBRARY SOURCE OUTPUT OPTION ...
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void *function(const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "there is no %s\n", name);
        exit(2);
    }
    return found;
}

/* Looks up a function; its address is a data pointer, which ISO C does not convert. */
#define FUNCTION(name, ...)        \
    int (*name)(__VA_ARGS__);      \
    *(void **)&name = function(#name)

static void check(int status, const char *call) {
    if (status == 0) return;
    fprintf(stderr, "%s: %d\n", call, status);
    exit(2);
}

static char *contents(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = calloc(1, 1 << 20);
    if (!file || !text || fread(text, 1, (1 << 20) - 1, file) == 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(2);
    }
    fclose(file);
    return text;
}

static char *nvrtc(const char *source, int count, const char **options) {
    void *program;
    size_t bytes;
    FUNCTION(nvrtcCreateProgram, void **, const char *, const char *, int, const char **, const char **);
    FUNCTION(nvrtcCompileProgram, void *, int, const char **);
    FUNCTION(nvrtcGetProgramLogSize, void *, size_t *);
    FUNCTION(nvrtcGetProgramLog, void *, char *);
    FUNCTION(nvrtcGetPTXSize, void *, size_t *);
    FUNCTION(nvrtcGetPTX, void *, char *);
    check(nvrtcCreateProgram(&program, source, "kernels.cu", 0, NULL, NULL), "nvrtcCreateProgram");
    int status = nvrtcCompileProgram(program, count, options);
    if (status) {
        nvrtcGetProgramLogSize(program, &bytes);
        char *log = calloc(1, bytes + 1);
        nvrtcGetProgramLog(program, log);
        fputs(log, stderr);
    }
    check(status, "nvrtcCompileProgram");
    check(nvrtcGetPTXSize(program, &bytes), "nvrtcGetPTXSize");
    char *ptx = calloc(1, bytes + 1);
    check(nvrtcGetPTX(program, ptx), "nvrtcGetPTX");
    return ptx;
}

static char *nvvm(const char *source, int count, const char **options) {
    void *program;
    size_t bytes;
    FUNCTION(nvvmCreateProgram, void **);
    FUNCTION(nvvmAddModuleToProgram, void *, const char *, size_t, const char *);
    FUNCTION(nvvmCompileProgram, void *, int, const char **);
    FUNCTION(nvvmGetProgramLogSize, void *, size_t *);
    FUNCTION(nvvmGetProgramLog, void *, char *);
    FUNCTION(nvvmGetCompiledResultSize, void *, size_t *);
    FUNCTION(nvvmGetCompiledResult, void *, char *);
    check(nvvmCreateProgram(&program), "nvvmCreateProgram");
    check(nvvmAddModuleToProgram(program, source, strlen(source), "kernels.ll"), "nvvmAddModuleToProgram");
    int status = nvvmCompileProgram(program, count, options);
    if (status) {
        nvvmGetProgramLogSize(program, &bytes);
        char *log = calloc(1, bytes + 1);
        nvvmGetProgramLog(program, log);
        fputs(log, stderr);
    }
    check(status, "nvvmCompileProgram");
    check(nvvmGetCompiledResultSize(program, &bytes), "nvvmGetCompiledResultSize");
    char *ptx = calloc(1, bytes + 1);
    check(nvvmGetCompiledResult(program, ptx), "nvvmGetCompiledResult");
    return ptx;
}

int main(int argc, char **argv) {
    if (argc < 5) return 1;
    library = dlopen(argv[2], RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    const char **options = (const char **)argv + 5;
    char *source = contents(argv[3]);
    char *ptx = strcmp(argv[1], "nvvm") ? nvrtc(source, argc - 5, options) : nvvm(source, argc - 5, options);
    FILE *output = fopen(argv[4], "wb");
    if (!output || fputs(ptx, output) < 0 || fclose(output)) {
        fprintf(stderr, "cannot write %s\n", argv[4]);
        return 2;
    }
    return 0;
}
