#include "engine_contexts.h"

#include "acl/library_interface.h"
#include "aivops/kernel_binary/counted.h"
#include "error.h"
#include "hccl/hccl_res.h"

#include <algorithm>
#include <cstdlib>

namespace aivops::hccl {
namespace {

namespace runtime = acl::library_interface;

bool on_device(CommEngine engine) {
    switch (engine) {
    case COMM_ENGINE_AICPU:
    case COMM_ENGINE_AICPU_TS:
    case COMM_ENGINE_AIV:
        return true;
    case COMM_ENGINE_CPU:
    case COMM_ENGINE_CPU_TS:
    case COMM_ENGINE_CCU:
        return false;
    default:
        throw Error(HCCL_E_PARA, "there is no engine " + std::to_string(engine));
    }
}

std::pair<std::string, CommEngine> make_key(const char* tag, CommEngine engine) {
    on_device(engine);
    std::string name = tag == nullptr ? "" : tag;
    require(name.size() <= HCCL_RES_TAG_MAX_LEN, HCCL_E_PARA,
            "the tag has " + std::to_string(name.size()) + " characters; at most " +
                std::to_string(HCCL_RES_TAG_MAX_LEN));
    return {name, engine};
}

} // namespace

EngineContexts::~EngineContexts() {
    for (const auto& [key, context] : contexts_) {
        free(key, context);
    }
}

void EngineContexts::free(const Key& key, const Context& context) {
    if (on_device(key.second)) {
        runtime::release(device_, context.memory);
    } else {
        std::free(context.memory);
    }
}

EngineContexts::Context& EngineContexts::find(const Key& key) {
    auto found = contexts_.find(key);
    require(found != contexts_.end(), HCCL_E_PARA,
            "there is no context with tag '" + key.first + "' of engine " + std::to_string(key.second));
    return found->second;
}

void* EngineContexts::create(const char* tag, CommEngine engine, uint64_t bytes) {
    const Key key = make_key(tag, engine);
    require(bytes != 0, HCCL_E_PARA, "size is 0");
    std::lock_guard lock(mutex_);
    require(contexts_.count(key) == 0, HCCL_E_PARA,
            "a context with tag '" + key.first + "' of engine " + std::to_string(engine) + " exists already");
    void* memory = on_device(engine) ? runtime::allocate(device_, bytes) : std::calloc(1, bytes);
    require(memory != nullptr, HCCL_E_MEMORY,
            "no " + aivops::kernel_binary::counted(bytes, "byte") + " left for the context '" + key.first + "'");
    contexts_[key] = {memory, bytes};
    return memory;
}

EngineContexts::Context EngineContexts::get(const char* tag, CommEngine engine) {
    const Key key = make_key(tag, engine);
    std::lock_guard lock(mutex_);
    return find(key);
}

void EngineContexts::copy(const char* tag, CommEngine engine, const void* from, uint64_t bytes, uint64_t offset) {
    const Key key = make_key(tag, engine);
    std::lock_guard lock(mutex_);
    const Context& context = find(key);
    require(offset <= context.bytes && bytes <= context.bytes - offset, HCCL_E_PARA,
            "no room for " + aivops::kernel_binary::counted(bytes, "byte") + " at offset " + std::to_string(offset) +
                " in the context '" + key.first + "' of " + aivops::kernel_binary::counted(context.bytes, "byte"));
    std::copy_n(static_cast<const std::byte*>(from), bytes, static_cast<std::byte*>(context.memory) + offset);
    runtime::ring_doorbell();
}

void EngineContexts::destroy(const char* tag, CommEngine engine) {
    const Key key = make_key(tag, engine);
    std::lock_guard lock(mutex_);
    free(key, find(key));
    contexts_.erase(key);
}

} // namespace aivops::hccl
