// Memory shared by key, as far as one process can ask.
#include "fact.h"

#include <string.h>

#define KEY_BYTES 65

void ask_about_sharing(void) {
    void *memory, *imported = NULL;
    char key[KEY_BYTES] = {0}, part[KEY_BYTES] = {0};
    int32_t pid = 0;
    if (find_function("aclrtIpcMemGetExportKey") == NULL) {
        not_asked("ipc", "memory shared by key", "the toolkit has no aclrtIpcMemGetExportKey");
        return;
    }
    CALL(aclrtMalloc, &memory, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST);
    CODE("ipc.export.length", "aclrtIpcMemGetExportKey with len 64", 107000, aclrtIpcMemGetExportKey, memory, 1 << 20,
         key, KEY_BYTES - 1, 0);
    CODE("ipc.export.flags", "aclrtIpcMemGetExportKey with flags 2", 107000, aclrtIpcMemGetExportKey, memory, 1 << 20,
         key, KEY_BYTES, 2);
    CODE("ipc.export", "aclrtIpcMemGetExportKey", 0, aclrtIpcMemGetExportKey, memory, 1 << 20, key, KEY_BYTES, 1);
    open_question("ipc.key.length", "characters of the key", (long long)strnlen(key, KEY_BYTES));
    CODE("ipc.pids.none", "aclrtIpcMemSetImportPid with no pid", 107000, aclrtIpcMemSetImportPid, key, &pid, 0);
    CODE("ipc.pid", "aclrtDeviceGetBareTgid", 0, aclrtDeviceGetBareTgid, &pid);
    open_question("ipc.import.own", "aclrtIpcMemImportByKey in the exporting process",
                  (long long)RESULT_OF(aclrtIpcMemImportByKey, &imported, key, 0));
    open_question("ipc.import.own.address", "1 when the address is another one", imported != memory);
    if (imported != NULL) {
        RESULT_OF(aclrtIpcMemClose, key);
    }
    open_question("ipc.export.part", "aclrtIpcMemGetExportKey of a part of an allocation",
                  (long long)RESULT_OF(aclrtIpcMemGetExportKey, (char*)memory + 4096, 4096, part, KEY_BYTES, 1));
    if (part[0] != 0) {
        RESULT_OF(aclrtIpcMemClose, part);
    }
    CODE("ipc.close", "aclrtIpcMemClose of an exported key", 0, aclrtIpcMemClose, key);
    CALL(aclrtFree, memory);
}
