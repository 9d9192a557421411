/* A tool that listens to NVTX and prints what it hears, a line for each call. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef void (*function)(void);
struct callbacks {
    size_t size;
    int (*functions_of)(unsigned module, function ***table, unsigned *size);
};
struct attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union { uint64_t u64; int64_t i64; double f64; uint32_t u32; int32_t i32; float f32; } payload;
    int32_t message_type;
    union { const char *text; void *registered; } message;
};

static uint64_t last_range = 100;

static void say(const char *what, void *domain, const struct attributes *a) {
    printf("%s in %p v%u %u:", what, domain, a->version, a->size);
    if (a->message_type == 1) printf(" '%s'", a->message.text);
    if (a->message_type == 3) printf(" name %p", a->message.registered);
    if (a->color_type) printf(" color %08x", a->color);
    if (a->category) printf(" category %u", a->category);
    if (a->payload_type == 1) printf(" u64 %llu", (unsigned long long)a->payload.u64);
    if (a->payload_type == 3) printf(" f64 %g", a->payload.f64);
    printf("\n");
    fflush(stdout);
}

static void mark(const struct attributes *a) { say("mark", NULL, a); }
static uint64_t start(const struct attributes *a) { say("start", NULL, a); return ++last_range; }
static void end(uint64_t id) { printf("end %llu\n", (unsigned long long)id); fflush(stdout); }
static int push(const struct attributes *a) { say("push", NULL, a); return 0; }
static int pop(void) { printf("pop\n"); fflush(stdout); return 0; }
static void category(uint32_t n, const char *name) { printf("category %u '%s'\n", n, name); fflush(stdout); }
static void thread(uint32_t n, const char *name) { printf("thread %d '%s'\n", n != 0, name); fflush(stdout); }

static void domain_mark(void *d, const struct attributes *a) { say("mark", d, a); }
static uint64_t domain_start(void *d, const struct attributes *a) { say("start", d, a); return ++last_range; }
static void domain_end(void *d, uint64_t id) { printf("end %llu in %p\n", (unsigned long long)id, d); fflush(stdout); }
static int domain_push(void *d, const struct attributes *a) { say("push", d, a); return 0; }
static int domain_pop(void *d) { printf("pop in %p\n", d); fflush(stdout); return 0; }
static void domain_category(void *d, uint32_t n, const char *name) {
    printf("category %u '%s' in %p\n", n, name, d);
    fflush(stdout);
}
static void *domain_register(void *d, const char *text) {
    printf("register '%s' in %p\n", text, d);
    fflush(stdout);
    return (void *)0x500;
}
static void *domain_create(const char *name) { printf("domain '%s'\n", name); fflush(stdout); return (void *)0x1000; }
static void domain_destroy(void *d) { printf("destroy %p\n", d); fflush(stdout); }
static void name_object(void *object, const char *name) { printf("object %d '%s'\n", object != NULL, name); fflush(stdout); }
static void name_device(int device, const char *name) { printf("device %d '%s'\n", device, name); fflush(stdout); }

int InitializeInjectionNvtx2(const void *(*table_of)(unsigned)) {
    const struct callbacks *callbacks = table_of(1);
    function **table;
    unsigned size;
    if (!callbacks->functions_of(1, &table, &size)) return 0;
    *table[1] = (function)mark, *table[4] = (function)start, *table[7] = (function)end;
    *table[8] = (function)push, *table[11] = (function)pop;
    *table[12] = (function)category, *table[14] = (function)thread;
    if (!callbacks->functions_of(5, &table, &size)) return 0;
    *table[1] = (function)domain_mark, *table[2] = (function)domain_start, *table[3] = (function)domain_end;
    *table[4] = (function)domain_push, *table[5] = (function)domain_pop, *table[8] = (function)domain_category;
    *table[10] = (function)domain_register, *table[12] = (function)domain_create, *table[14] = (function)domain_destroy;
    if (!callbacks->functions_of(2, &table, &size)) return 0;
    *table[1] = (function)name_device;
    *table[3] = *table[5] = *table[7] = (function)name_object;
    return 1;
}
