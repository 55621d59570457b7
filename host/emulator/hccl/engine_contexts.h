// Named memory of a rank's engines. Device memory for those on the device, host memory for the others.
#ifndef AIVOPS_EMULATOR_HCCL_ENGINE_CONTEXTS_H
#define AIVOPS_EMULATOR_HCCL_ENGINE_CONTEXTS_H

#include "hcomm_res_defs.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace aivops::hccl {

class EngineContexts {
  public:
    explicit EngineContexts(uint32_t device) : device_(device) {}
    ~EngineContexts();
    EngineContexts(const EngineContexts&) = delete;
    EngineContexts& operator=(const EngineContexts&) = delete;

    struct Context {
        void* memory = nullptr;
        uint64_t bytes = 0;
    };

    void* create(const char* tag, CommEngine engine, uint64_t bytes);
    Context get(const char* tag, CommEngine engine);
    void copy(const char* tag, CommEngine engine, const void* from, uint64_t bytes, uint64_t offset);
    void destroy(const char* tag, CommEngine engine);

  private:
    using Key = std::pair<std::string, CommEngine>;

    Context& find(const Key& key);
    void free(const Key& key, const Context& context);

    const uint32_t device_;
    std::mutex mutex_;
    std::map<Key, Context> contexts_;
};

} // namespace aivops::hccl

#endif // AIVOPS_EMULATOR_HCCL_ENGINE_CONTEXTS_H
