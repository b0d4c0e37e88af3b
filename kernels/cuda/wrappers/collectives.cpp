// SPDX-License-Identifier: Apache-2.0
// Collectives by NCCL, which is loaded when the first group is named: one GPU needs none. Meanings:
// the NCCL user guide, "Collective Operations" and "Point-to-point communication". Communicators do
// not block ("Fault Tolerance"): calls come back at once and go on in threads of NCCL's, so that a
// rank that never comes holds up nobody who can still end the group.
#include "kernels/cuda/module.h"
#include "kernels/cuda/wrappers/stream.h"

#include <dlfcn.h>
#include <nccl.h>

#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

struct weft_group {
    ncclComm_t handle = nullptr;
    std::int32_t size = 0;
    std::int32_t rank = 0;
    std::mutex mutex; // whoever ends it is another thread than the one that calls it
    bool ended = false;
};

namespace weft::kernels::cuda {
namespace {

/// The functions of the library; null where it is not.
struct Nccl {
    decltype(&ncclGetUniqueId) get_unique_id = nullptr;
    decltype(&ncclCommInitRankConfig) comm_init_rank = nullptr;
    decltype(&ncclCommDestroy) comm_destroy = nullptr;
    decltype(&ncclCommAbort) comm_abort = nullptr;
    decltype(&ncclCommGetAsyncError) comm_get_async_error = nullptr;
    decltype(&ncclGetErrorString) get_error_string = nullptr;
    decltype(&ncclGroupStart) group_start = nullptr;
    decltype(&ncclGroupEnd) group_end = nullptr;
    decltype(&ncclAllReduce) all_reduce = nullptr;
    decltype(&ncclAllGather) all_gather = nullptr;
    decltype(&ncclReduceScatter) reduce_scatter = nullptr;
    decltype(&ncclSend) send = nullptr;
    decltype(&ncclRecv) receive = nullptr;
};

template <class Function>
void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (function == nullptr) {
        throw Failure{WEFT_LIBRARY_ERROR, std::string("libnccl.so.2 lacks ") + name};
    }
}

const Nccl& nccl() {
    static std::mutex mutex;
    static Nccl found;
    const std::lock_guard lock(mutex);
    if (found.get_unique_id == nullptr) {
        void* const library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            throw Failure{WEFT_LIBRARY_ERROR,
                          std::string("several GPUs need NCCL 2, which is not installed: ") +
                              dlerror()};
        }
        Nccl all;
        find(library, "ncclGetUniqueId", all.get_unique_id);
        find(library, "ncclCommInitRankConfig", all.comm_init_rank);
        find(library, "ncclCommDestroy", all.comm_destroy);
        find(library, "ncclCommAbort", all.comm_abort);
        find(library, "ncclCommGetAsyncError", all.comm_get_async_error);
        find(library, "ncclGetErrorString", all.get_error_string);
        find(library, "ncclGroupStart", all.group_start);
        find(library, "ncclGroupEnd", all.group_end);
        find(library, "ncclAllReduce", all.all_reduce);
        find(library, "ncclAllGather", all.all_gather);
        find(library, "ncclReduceScatter", all.reduce_scatter);
        find(library, "ncclSend", all.send);
        find(library, "ncclRecv", all.receive);
        found = all;
    }
    return found;
}

void check_nccl(ncclResult_t result, const char* what) {
    if (result != ncclSuccess && result != ncclInProgress) {
        throw Failure{WEFT_LIBRARY_ERROR,
                      std::string(what) + ": " + nccl().get_error_string(result)};
    }
}

template <class Body>
weft_status at_collectives(Body body) noexcept {
    return as_status("out of memory in a collective", body);
}

ncclDataType_t data_type(std::int32_t dtype) {
    switch (dtype) {
    case WEFT_F32: return ncclFloat32;
    case WEFT_BF16: return ncclBfloat16;
    case WEFT_F16: return ncclFloat16;
    case WEFT_F64: return ncclFloat64;
    case WEFT_I32: return ncclInt32;
    case WEFT_I64: return ncclInt64;
    case WEFT_U8: return ncclUint8;
    default: unsupported("a collective of this element type");
    }
}

/// Part `i` of an array of equal parts.
const void* part(const void* array, const weft_transfer& t, std::int64_t i) {
    return static_cast<const unsigned char*>(array) + i * t.count * dtype_size(t.dtype);
}
void* part(void* array, const weft_transfer& t, std::int64_t i) {
    return static_cast<unsigned char*>(array) + i * t.count * dtype_size(t.dtype);
}

void queue(const weft_group& group, const weft_collective_call& call, const weft_transfer& t,
           cudaStream_t stream) {
    const Nccl& library = nccl();
    const ncclDataType_t type = data_type(t.dtype);
    const ncclRedOp_t reduction = call.reduction == WEFT_MAX ? ncclMax : ncclSum;
    const auto count = static_cast<std::size_t>(t.count);
    const auto send = [&](const void* from, int to) {
        check_nccl(library.send(from, count, type, to, group.handle, stream), "sending");
    };
    const auto receive = [&](void* to, int from) {
        check_nccl(library.receive(to, count, type, from, group.handle, stream), "receiving");
    };
    switch (call.kind) {
    case WEFT_ALL_REDUCE:
        check_nccl(library.all_reduce(t.from, t.to, count, type, reduction, group.handle, stream),
                   "all-reduce");
        break;
    case WEFT_ALL_GATHER:
        check_nccl(library.all_gather(t.from, t.to, count, type, group.handle, stream),
                   "all-gather");
        break;
    case WEFT_REDUCE_SCATTER:
        check_nccl(
            library.reduce_scatter(t.from, t.to, count, type, reduction, group.handle, stream),
            "reduce-scatter");
        break;
    case WEFT_ALL_TO_ALL:
        for (int other = 0; other < group.size; ++other) {
            send(part(t.from, t, other), other);
            receive(part(t.to, t, other), other);
        }
        break;
    case WEFT_PERMUTE: {
        const int shift = (call.shift % group.size + group.size) % group.size;
        send(t.from, (group.rank + shift) % group.size);
        receive(t.to, (group.rank - shift + group.size) % group.size);
        break;
    }
    case WEFT_SEND: send(t.from, call.peer); break;
    case WEFT_RECEIVE: receive(t.to, call.peer); break;
    default: throw Failure{WEFT_BAD_ARGUMENT, "there is no such collective"};
    }
}

weft_status name_group(weft_group_name* name) {
    return at_collectives([&] {
        static_assert(sizeof(ncclUniqueId) == sizeof name->bytes);
        ncclUniqueId id{};
        check_nccl(nccl().get_unique_id(&id), "naming a group of GPUs");
        std::memcpy(name->bytes, &id, sizeof id);
    });
}

weft_status join_group(weft_device*, const weft_group_name* name, std::int32_t size,
                       std::int32_t rank, weft_group** group) {
    return at_collectives([&] {
        ncclUniqueId id{};
        std::memcpy(&id, name->bytes, sizeof id);
        ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
        config.blocking = 0;
        auto joined = std::make_unique<weft_group>();
        joined->size = size;
        joined->rank = rank;
        check_nccl(nccl().comm_init_rank(&joined->handle, size, id, rank, &config),
                   "joining a group of GPUs");
        *group = joined.release();
    });
}

/// Whether NCCL has done what the last call asked for. Throws Failure.
bool is_idle(weft_group& group) {
    const std::lock_guard lock(group.mutex);
    if (group.ended) {
        throw Failure{WEFT_LIBRARY_ERROR, "the group of GPUs was ended"};
    }
    ncclResult_t state = ncclSuccess;
    check_nccl(nccl().comm_get_async_error(group.handle, &state), "asking a group of GPUs");
    check_nccl(state, "a group of GPUs");
    return state != ncclInProgress;
}

weft_status is_group_joined(weft_group* group, std::int32_t* joined) {
    return at_collectives([&] { *joined = is_idle(*group) ? 1 : 0; });
}

void queue_all(weft_group& group, const weft_collective_call& call, weft_stream* stream) {
    const std::lock_guard lock(group.mutex);
    if (group.ended) {
        throw Failure{WEFT_LIBRARY_ERROR, "the group of GPUs was ended"};
    }
    check_nccl(nccl().group_start(), "a collective");
    try {
        for (std::int32_t i = 0; i < call.transfers; ++i) {
            queue(group, call, call.list[i], handle_of(stream));
        }
    } catch (...) {
        nccl().group_end();
        throw;
    }
    check_nccl(nccl().group_end(), "a collective");
}

/// Queued when it returns, as what follows on the stream must not come before it: a call of a
/// communicator that does not block is queued once its state is ncclSuccess (NCCL user guide,
/// "Nonblocking Group Operation"). That also holds for the end of a capture.
weft_status call_group(weft_group* group, const weft_collective_call* call, weft_stream* stream) {
    return at_collectives([&] {
        queue_all(*group, *call, stream);
        while (!is_idle(*group)) {
            std::this_thread::yield();
        }
    });
}

weft_status check_group(weft_group* group) {
    return at_collectives([&] { is_idle(*group); });
}

/// On a thread of its own: freeing what the group has waits for all work of the GPU, also for a
/// kernel that never ends, and may wait for the other ranks.
void abort_group(weft_group* group) {
    const std::lock_guard lock(group->mutex);
    if (!group->ended) {
        group->ended = true;
        std::thread([handle = group->handle] { nccl().comm_abort(handle); }).detach();
    }
}

void leave_group(weft_group* group) {
    if (!group->ended) {
        nccl().comm_destroy(group->handle);
    }
    delete group;
}

constexpr weft_collectives kNccl = {"nccl",          name_group,  join_group,
                                    is_group_joined, call_group,  check_group,
                                    abort_group,     leave_group, weft_last_error};

} // namespace
} // namespace weft::kernels::cuda

extern "C" const weft_collectives* weft_cuda_collectives(void) {
    return &weft::kernels::cuda::kNccl;
}
