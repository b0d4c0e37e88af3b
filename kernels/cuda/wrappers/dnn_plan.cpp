// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/wrappers/dnn_plan.h"

#include "kernels/cuda/wrappers/stream.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <numeric>

namespace weft::kernels::cuda {
namespace {

/// "call: what cuDNN says, and its own words for the last failure".
std::string failure_text(cudnnStatus_t status, const char* what) {
    std::array<char, 512> words{};
    cudnnGetLastErrorString(words.data(), words.size());
    return std::string(what) + ": " + cudnnGetErrorString(status) + " (" + words.data() + ")";
}

/// An attribute with any number of values.
template <class T>
std::vector<T> values_of(const DnnPart& part, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeType_t type, std::size_t most) {
    std::vector<T> values(most);
    std::int64_t count = 0;
    check_dnn(cudnnBackendGetAttribute(part.handle(), name, type, static_cast<std::int64_t>(most),
                                       &count, values.data()),
              "asking cuDNN");
    values.resize(static_cast<std::size_t>(count));
    return values;
}

/// The library's proposals, best first.
std::vector<DnnPart> proposals(const DnnPart& graph, const DnnDevice& device,
                               cudnnBackendHeurMode_t mode) {
    DnnPart guess(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    guess.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
        .set(CUDNN_ATTR_ENGINEHEUR_MODE, mode)
        .set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, device.part());
    if (cudnnBackendFinalize(guess.handle()) != CUDNN_STATUS_SUCCESS) {
        return {}; // it knows nothing of such a graph
    }
    std::int64_t count = 0;
    check_dnn(cudnnBackendGetAttribute(guess.handle(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, &count, nullptr),
              "asking cuDNN for proposals");
    std::vector<DnnPart> configs;
    std::vector<cudnnBackendDescriptor_t> handles;
    for (std::int64_t i = 0; i < count; ++i) {
        configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
        handles.push_back(configs.back().handle());
    }
    check_dnn(cudnnBackendGetAttribute(guess.handle(), CUDNN_ATTR_ENGINEHEUR_RESULTS,
                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, count, &count,
                                       handles.data()),
              "asking cuDNN for proposals");
    configs.erase(configs.begin() + count, configs.end());
    return configs;
}

/// What an engine says of its numbers.
std::vector<cudnnBackendNumericalNote_t> notes_of(const DnnPart& config) {
    const DnnPart engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
    cudnnBackendDescriptor_t handle = engine.handle();
    std::int64_t count = 0;
    check_dnn(cudnnBackendGetAttribute(config.handle(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                       CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &handle),
              "asking cuDNN for an engine");
    return values_of<cudnnBackendNumericalNote_t>(engine, CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                  CUDNN_TYPE_NUMERICAL_NOTE,
                                                  CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
}

// Sums in an order that is not always the same or with fewer digits than the operands', and
// transforms whose rounding is not that of a sum of products.
constexpr std::array kRefused = {
    CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC,
    CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS,
    CUDNN_NUMERICAL_NOTE_FFT,
    CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION,
    CUDNN_NUMERICAL_NOTE_WINOGRAD,
    CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_4x4,
    CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6,
    CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13,
};

/// The library's state on one GPU; kept as long as the process.
struct Handle {
    std::mutex mutex; // a handle has one stream at a time
    cudnnHandle_t handle = nullptr;
};

Handle& present_handle() {
    static std::mutex mutex;
    static std::map<int, Handle> handles;
    const std::lock_guard lock(mutex);
    int device = 0;
    check(cudaGetDevice(&device), "the present GPU");
    Handle& present = handles[device];
    if (present.handle == nullptr) {
        check_dnn(cudnnCreate(&present.handle), "starting cuDNN");
    }
    return present;
}

} // namespace

void check_dnn(cudnnStatus_t status, const char* what) {
    if (status == CUDNN_STATUS_SUCCESS) {
        return;
    }
    const bool memory = status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
                        status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
    const bool unsupported = CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED;
    throw Failure{memory        ? WEFT_OUT_OF_MEMORY
                  : unsupported ? WEFT_UNSUPPORTED
                                : WEFT_LIBRARY_ERROR,
                  failure_text(status, what)};
}

DnnPart::DnnPart(cudnnBackendDescriptorType_t type) {
    check_dnn(cudnnBackendCreateDescriptor(type, &handle_), "describing to cuDNN");
}

DnnPart::~DnnPart() {
    if (handle_ != nullptr) {
        cudnnBackendDestroyDescriptor(handle_);
    }
}

DnnPart& DnnPart::set_all(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                          std::size_t count, const void* values) {
    check_dnn(
        cudnnBackendSetAttribute(handle_, name, type, static_cast<std::int64_t>(count), values),
        "describing to cuDNN");
    return *this;
}

DnnPart& DnnPart::set(cudnnBackendAttributeName_t name, const DnnPart& value) {
    return set_all(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &value.handle_);
}
DnnPart& DnnPart::set(cudnnBackendAttributeName_t name, std::span<const DnnPart> values) {
    std::vector<cudnnBackendDescriptor_t> handles;
    for (const DnnPart& value : values) {
        handles.push_back(value.handle_);
    }
    return set_all(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, handles.size(), handles.data());
}
DnnPart& DnnPart::set(cudnnBackendAttributeName_t name, std::int64_t value) {
    return set_all(name, CUDNN_TYPE_INT64, 1, &value);
}
DnnPart& DnnPart::set(cudnnBackendAttributeName_t name, std::span<const std::int64_t> values) {
    return set_all(name, CUDNN_TYPE_INT64, values.size(), values.data());
}
DnnPart& DnnPart::set(cudnnBackendAttributeName_t name, std::span<void* const> values) {
    return set_all(name, CUDNN_TYPE_VOID_PTR, values.size(), values.data());
}
DnnPart& DnnPart::set(cudnnBackendAttributeName_t name, std::string_view value) {
    return set_all(name, CUDNN_TYPE_CHAR, value.size(), value.data());
}
DnnPart& DnnPart::set(cudnnBackendAttributeName_t name, bool value) {
    return set_all(name, CUDNN_TYPE_BOOLEAN, 1, &value);
}
DnnPart& DnnPart::set(cudnnBackendAttributeName_t name, float value) {
    return set_all(name, CUDNN_TYPE_FLOAT, 1, &value);
}
DnnPart& DnnPart::set(cudnnBackendAttributeName_t name, cudnnDataType_t value) {
    return set_all(name, CUDNN_TYPE_DATA_TYPE, 1, &value);
}
DnnPart& DnnPart::set(cudnnBackendAttributeName_t name, cudnnConvolutionMode_t value) {
    return set_all(name, CUDNN_TYPE_CONVOLUTION_MODE, 1, &value);
}
DnnPart& DnnPart::set(cudnnBackendAttributeName_t name, cudnnPointwiseMode_t value) {
    return set_all(name, CUDNN_TYPE_POINTWISE_MODE, 1, &value);
}
DnnPart& DnnPart::set(cudnnBackendAttributeName_t name, cudnnReduceTensorOp_t value) {
    return set_all(name, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, 1, &value);
}
DnnPart& DnnPart::set(cudnnBackendAttributeName_t name, cudnnBackendHeurMode_t value) {
    return set_all(name, CUDNN_TYPE_HEUR_MODE, 1, &value);
}

DnnPart DnnPart::finished() && {
    check_dnn(cudnnBackendFinalize(handle_), "describing to cuDNN");
    return std::move(*this);
}

cudnnDataType_t dnn_type(std::int32_t dtype) {
    return dtype == WEFT_BF16  ? CUDNN_DATA_BFLOAT16
           : dtype == WEFT_F16 ? CUDNN_DATA_HALF
                               : CUDNN_DATA_FLOAT;
}

DnnPart dnn_array(std::int64_t number, cudnnDataType_t type, std::span<const std::int64_t> dims,
                  std::span<const std::int64_t> strides, DnnPlace place) {
    DnnPart array(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    array.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, number)
        .set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims)
        .set(CUDNN_ATTR_TENSOR_STRIDES, strides)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{kDnnAlignment})
        .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, place == DnnPlace::nowhere)
        .set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, place == DnnPlace::host);
    return std::move(array).finished();
}

DnnDevice::DnnDevice(std::string_view description)
    : part_(std::move(DnnPart(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR)
                          .set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, description))
                .finished()) {}

DnnDevice::DnnDevice(int number) : part_(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR) {
    const auto device = static_cast<std::int32_t>(number);
    check_dnn(cudnnBackendSetAttribute(part_.handle(), CUDNN_ATTR_DEVICEPROP_DEVICE_ID,
                                       CUDNN_TYPE_INT32, 1, &device),
              "describing a GPU to cuDNN");
    part_ = std::move(part_).finished();
}

const DnnDevice& DnnDevice::present() {
    static std::mutex mutex;
    static std::map<int, std::unique_ptr<DnnDevice>> devices;
    const std::lock_guard lock(mutex);
    int number = 0;
    check(cudaGetDevice(&number), "the present GPU");
    std::unique_ptr<DnnDevice>& device = devices[number];
    if (device == nullptr) {
        device.reset(new DnnDevice(number));
    }
    return *device;
}

DnnPlan choose_plan(const DnnPart& graph, const DnnDevice& device,
                    std::initializer_list<cudnnBackendNumericalNote_t> refused,
                    std::int64_t most_workspace) {
    const auto acceptable = [&](cudnnBackendNumericalNote_t note) {
        return std::find(kRefused.begin(), kRefused.end(), note) == kRefused.end() &&
               std::find(refused.begin(), refused.end(), note) == refused.end();
    };
    for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK}) {
        for (DnnPart& config : proposals(graph, device, mode)) {
            const auto notes = notes_of(config);
            if (!std::all_of(notes.begin(), notes.end(), acceptable)) {
                continue;
            }
            DnnPart plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
            plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config)
                .set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, device.part());
            if (cudnnBackendFinalize(plan.handle()) != CUDNN_STATUS_SUCCESS) {
                continue; // proposed, but not for these arrays
            }
            const auto bytes = values_of<std::int64_t>(
                plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1);
            if (bytes.size() == 1 && bytes[0] <= most_workspace) {
                return {std::move(config), std::move(plan), bytes[0]};
            }
        }
    }
    unsupported("cuDNN has no plan for this");
}

std::shared_ptr<const DnnPlan> kept_plan(const std::vector<std::int64_t>& key,
                                         const std::function<DnnPlan(const DnnDevice&)>& plan) {
    static std::mutex mutex;
    static std::map<std::pair<int, std::vector<std::int64_t>>, std::shared_ptr<const DnnPlan>>
        plans;
    int device = 0;
    check(cudaGetDevice(&device), "the present GPU");
    const std::lock_guard lock(mutex);
    std::shared_ptr<const DnnPlan>& kept = plans[{device, key}];
    if (kept == nullptr) {
        kept = std::make_shared<DnnPlan>(plan(DnnDevice::present()));
    }
    return kept;
}

DnnExecution::DnnExecution(std::shared_ptr<const DnnPlan> plan) : plan_(std::move(plan)) {
    present_handle(); // takes memory, so not in a run
}

void DnnExecution::run(weft_stream* stream, std::span<void* const> arrays, void* workspace) {
    const bool told = pack_ && told_.back() == workspace &&
                      std::equal(arrays.begin(), arrays.end(), told_.begin(), told_.end() - 1);
    if (!told) {
        told_.assign(arrays.begin(), arrays.end());
        told_.push_back(workspace);
        numbers_.resize(arrays.size());
        std::iota(numbers_.begin(), numbers_.end(), 0);
        pack_.emplace(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
        pack_->set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, numbers_)
            .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, arrays)
            .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, std::span<void* const>(&workspace, 1));
        pack_ = std::move(*pack_).finished();
    }
    Handle& present = present_handle();
    const std::lock_guard lock(present.mutex);
    check_dnn(cudnnSetStream(present.handle, handle_of(stream)), "choosing a stream");
    check_dnn(cudnnBackendExecute(present.handle, plan_->plan.handle(), pack_->handle()),
              "running a plan of cuDNN");
}

} // namespace weft::kernels::cuda
