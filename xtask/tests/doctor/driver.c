/* A driver with one device, for the tests of what `doctor` and `detect` say of one. With OLD the device is older than kernels allow; with
   NONE there is none. */
#include <string.h>

#ifdef NONE
#define DEVICES 0
#else
#define DEVICES 1
#endif

int cuInit(unsigned flags) { return flags != 0; }
int cuDriverGetVersion(int *version) { *version = 12080; return 0; }
int cuDeviceGetCount(int *count) { *count = DEVICES; return 0; }
int cuDeviceGet(int *device, int ordinal) { *device = ordinal; return 0; }
int cuDeviceGetName(char *name, int room, int device) { strncpy(name, "Made-up card", room); return device; }
int cuDeviceTotalMem_v2(unsigned long *bytes, int device) { *bytes = 3ul << 30; return device; }
int cuDeviceGetUuid_v2(unsigned char *uuid, int device) { memset(uuid, 0xab, 16); return device; }
int cuDeviceGetPCIBusId(char *id, int room, int device) { strncpy(id, "0000:65:00.0", room); return device; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    switch (attribute) {
#ifdef OLD
    case 75: *value = 3; break;
#else
    case 75: *value = 8; break;
#endif
    case 76: *value = 6; break;
    case 16: *value = 46; break;
    case 17: *value = 1; break;
    case 20: *value = 3; break;
    case 33: *value = 0x65; break;
    /* This driver does not know of memory pools. */
    case 115: return 1;
    default: *value = 0;
    }
    return device;
}
