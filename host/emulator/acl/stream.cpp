// Streams: making, waiting, asking, stopping.
#include "errors.h"
#include "objects.h"

using namespace aivops::acl;

namespace {

constexpr uint32_t kMostStreams = 1984; // per device, as A2, A3 and 950 have
constexpr uint32_t kLowestPriority = 7;

aclError make(const char* function, aclrtStream* stream, uint32_t priority, uint32_t flag) {
    if (stream == nullptr) {
        return null_argument(function, "stream");
    }
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return no_context(function);
    }
    if (priority > kLowestPriority) {
        return fail(function, ACL_ERROR_RT_PARAM_INVALID,
                    "priority " + std::to_string(priority) + " is above " + std::to_string(kLowestPriority));
    }
    *stream = runtime().make_stream(context, priority, flag).get();
    return ACL_SUCCESS;
}

aclError destroy(const char* function, aclrtStream handle, bool force) {
    std::shared_ptr<StreamObject> stream = runtime().streams.find(handle);
    if (handle == nullptr) {
        return null_argument(function, "stream");
    }
    if (!stream) {
        return bad_handle(function, "stream");
    }
    std::shared_ptr<Context> context = stream->context.lock();
    if (context && context->default_stream == stream) {
        return fail(function, ACL_ERROR_RT_PARAM_INVALID, "a context's default stream goes with its context");
    }
    if (force) {
        stream->device().abort(*stream->queue);
    } else {
        aivops::machine::machine().drive(stream->queue->device(), [&] { return stream->queue->idle(); });
    }
    runtime().drop_stream(stream);
    return ACL_SUCCESS;
}

} // namespace

aclError aclrtCreateStream(aclrtStream* stream) {
    return make(__func__, stream, 0, 0);
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
    return make(__func__, stream, priority, flag);
}

aclError aclrtDestroyStream(aclrtStream stream) {
    return destroy(__func__, stream, false);
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
    return destroy(__func__, stream, true);
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
    aclError error = ACL_SUCCESS;
    std::shared_ptr<StreamObject> found = find_stream(__func__, stream, false, error);
    return found ? synchronize(__func__, *found, -1) : error;
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
    if (timeout < -1) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "the timeout is milliseconds, or -1 for none");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<StreamObject> found = find_stream(__func__, stream, false, error);
    return found ? synchronize(__func__, *found, timeout) : error;
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
    if (status == nullptr) {
        return null_argument(__func__, "status");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<StreamObject> found = find_stream(__func__, stream, false, error);
    if (!found) {
        return error;
    }
    // A program that only ever asks gets on as well.
    if (!found->queue->idle()) {
        found->device().advance();
    }
    *status = found->queue->idle() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
    if (found->queue->idle()) {
        if (std::optional<aivops::machine::Failure> failure = found->queue->take_failure()) {
            return fail(__func__, failure->code, failure->message);
        }
    }
    return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
    if (streamId == nullptr) {
        return null_argument(__func__, "streamId");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<StreamObject> found = find_stream(__func__, stream, false, error);
    if (found) {
        *streamId = static_cast<int32_t>(found->queue->id());
    }
    return error;
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
    if (priority == nullptr) {
        return null_argument(__func__, "priority");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<StreamObject> found = find_stream(__func__, stream, false, error);
    if (found) {
        *priority = found->priority;
    }
    return error;
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
    if (flags == nullptr) {
        return null_argument(__func__, "flags");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<StreamObject> found = find_stream(__func__, stream, false, error);
    if (found) {
        *flags = found->flags;
    }
    return error;
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
    if (mode != ACL_CONTINUE_ON_FAILURE && mode != ACL_STOP_ON_FAILURE) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "no failure mode " + std::to_string(mode));
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<StreamObject> found = find_stream(__func__, stream, false, error);
    if (!found) {
        return error;
    }
    if (found->failure_mode == ACL_STOP_ON_FAILURE && mode == ACL_CONTINUE_ON_FAILURE) {
        return fail(__func__, ACL_ERROR_RT_PARAM_INVALID, "stopping on failure cannot be taken back");
    }
    found->failure_mode = mode;
    if (mode == ACL_STOP_ON_FAILURE) {
        found->queue->domain().stop_on_failure.store(true);
    }
    return ACL_SUCCESS;
}

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value) {
    if (value == nullptr) {
        return null_argument(__func__, "value");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<StreamObject> found = find_stream(__func__, stream, false, error);
    if (!found) {
        return error;
    }
    switch (stmAttrType) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
        return aclrtSetStreamFailureMode(stream, value->failureMode);
    case ACL_STREAM_ATTR_PRIORITY:
        found->priority = value->streamPriority;
        return ACL_SUCCESS;
    default:
        return fail(__func__, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "the emulated stream has no attribute " + std::to_string(stmAttrType));
    }
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType, aclrtStreamAttrValue* value) {
    if (value == nullptr) {
        return null_argument(__func__, "value");
    }
    aclError error = ACL_SUCCESS;
    std::shared_ptr<StreamObject> found = find_stream(__func__, stream, false, error);
    if (!found) {
        return error;
    }
    switch (stmAttrType) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
        value->failureMode = found->failure_mode;
        return ACL_SUCCESS;
    case ACL_STREAM_ATTR_PRIORITY:
        value->streamPriority = found->priority;
        return ACL_SUCCESS;
    default:
        return fail(__func__, ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                    "the emulated stream has no attribute " + std::to_string(stmAttrType));
    }
}

aclError aclrtGetStreamAvailableNum(uint32_t* streamCount) {
    if (streamCount == nullptr) {
        return null_argument(__func__, "streamCount");
    }
    std::shared_ptr<Context> context = current_context();
    if (!context) {
        return no_context(__func__);
    }
    uint32_t used = 0;
    for (const std::shared_ptr<StreamObject>& stream : runtime().streams.all()) {
        used += stream->queue->device() == context->device ? 1 : 0;
    }
    *streamCount = used < kMostStreams ? kMostStreams - used : 0;
    return ACL_SUCCESS;
}

aclError aclrtStreamAbort(aclrtStream stream) {
    aclError error = ACL_SUCCESS;
    std::shared_ptr<StreamObject> found = find_stream(__func__, stream, false, error);
    if (found) {
        found->device().abort(*found->queue);
    }
    return error;
}
