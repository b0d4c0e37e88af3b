// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/wrappers/blas.h"

#include "kernels/cuda/wrappers/stream.h"

#include <cublasLt.h>

#include <map>
#include <mutex>

namespace weft::kernels::cuda {
namespace {

constexpr std::size_t kMostWorkspace = std::size_t{32} << 20;
constexpr int kMostWays = 6;

void check_blas(cublasStatus_t status, const char* what) {
    if (status != CUBLAS_STATUS_SUCCESS) {
        throw Failure{status == CUBLAS_STATUS_NOT_SUPPORTED ? WEFT_UNSUPPORTED : WEFT_LIBRARY_ERROR,
                      std::string(what) + ": " + cublasLtGetStatusString(status)};
    }
}

/// The library on one device.
struct Library {
    cublasLtHandle_t handle = nullptr;
    std::string ground; // of times that are measured there
};

std::string ground_of(int device) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "asking for the GPU's name");
    int driver = 0;
    check(cudaDriverGetVersion(&driver), "asking for the driver's version");
    return std::string(properties.name) + "\nCUDA driver " + std::to_string(driver) +
           "\ncuBLASLt " + std::to_string(cublasLtGetVersion());
}

/// Of the calling thread's device; kept as long as the process.
const Library& library() {
    static std::mutex mutex;
    static std::map<int, Library> libraries;
    const std::lock_guard lock(mutex);
    int device = 0;
    check(cudaGetDevice(&device), "the present GPU");
    Library& own = libraries[device];
    if (own.handle == nullptr) {
        own.ground = ground_of(device);
        check_blas(cublasLtCreate(&own.handle), "starting cuBLASLt");
    }
    return own;
}

cudaDataType_t type_of(std::int32_t dtype) {
    return dtype == WEFT_BF16 ? CUDA_R_16BF : dtype == WEFT_F16 ? CUDA_R_16F : CUDA_R_32F;
}

cudaDataType_t type_of(Numbers numbers) {
    switch (numbers) {
    case Numbers::bf16: return CUDA_R_16BF;
    case Numbers::f16: return CUDA_R_16F;
    case Numbers::e4m3: return CUDA_R_8F_E4M3;
    case Numbers::e5m2: return CUDA_R_8F_E5M2;
    default: return CUDA_R_32F;
    }
}

cublasLtEpilogue_t epilogue_of(const ProductShape& s) {
    switch (s.after) {
    case After::gelu: return s.bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
    case After::gelu_grad: return CUBLASLT_EPILOGUE_DGELU;
    case After::sums: return CUBLASLT_EPILOGUE_BGRADA;
    default: return s.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
    }
}

/// Owns one of the library's descriptions.
template <class Handle, cublasStatus_t (*Destroy)(Handle)>
class Described {
public:
    Described() = default;
    Described(const Described&) = delete;
    Described& operator=(const Described&) = delete;
    ~Described() {
        if (handle != nullptr) {
            Destroy(handle);
        }
    }
    Handle handle = nullptr;
};
using Layout = Described<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Description = Described<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Preference = Described<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

template <class T>
void set(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t attribute,
         const T& value) {
    check_blas(cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof value),
               "describing a product");
}

/// Owns an event of the calling thread's device.
class TimedEvent {
public:
    TimedEvent() { check(cudaEventCreate(&handle), "making an event"); }
    TimedEvent(const TimedEvent&) = delete;
    TimedEvent& operator=(const TimedEvent&) = delete;
    ~TimedEvent() { cudaEventDestroy(handle); }
    cudaEvent_t handle = nullptr;
};

class BlasProduct final : public Product {
public:
    explicit BlasProduct(const ProductShape& s)
        : library_(library()), batch_(s.batch), before_(s.adds ? 1.0f : 0.0f) {
        check_blas(cublasLtMatmulDescCreate(&product_.handle,
                                            s.a == Numbers::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                                 : CUBLAS_COMPUTE_32F,
                                            CUDA_R_32F),
                   "describing a product");
        set(product_.handle, CUBLASLT_MATMUL_DESC_TRANSA, s.turn_a ? CUBLAS_OP_T : CUBLAS_OP_N);
        set(product_.handle, CUBLASLT_MATMUL_DESC_TRANSB, s.turn_b ? CUBLAS_OP_T : CUBLAS_OP_N);
        set(product_.handle, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(s));
        // cublasLt.h: the choice depends on these addresses for the alignment to expect.
        const void* const somewhere =
            reinterpret_cast<const void*>(std::uintptr_t{kProductAlignment});
        if (s.bias || s.after == After::sums) {
            set(product_.handle, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(s.result));
            set(product_.handle, CUBLASLT_MATMUL_DESC_BIAS_POINTER, somewhere);
        }
        if (s.after == After::gelu || s.after == After::gelu_grad) {
            set(product_.handle, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, somewhere);
            set(product_.handle, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, s.leading_c);
            set(product_.handle, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, s.stride_c);
        }
        layout(a_, type_of(s.a), s.turn_a ? s.k : s.m, s.turn_a ? s.m : s.k, s.leading_a,
               s.stride_a);
        layout(b_, type_of(s.b), s.turn_b ? s.n : s.k, s.turn_b ? s.k : s.n, s.leading_b,
               s.stride_b);
        layout(c_, type_of(s.result), s.m, s.n, s.leading_c, s.stride_c);
        find_ways();
    }

    std::int64_t workspace_bytes() const override {
        return static_cast<std::int64_t>(workspace_bytes_);
    }
    const std::vector<std::string>& ways() const override { return ways_; }
    const std::string& ground() const override { return library_.ground; }

    std::optional<double> seconds(weft_stream* stream, const ProductArrays& of,
                                  std::size_t way) const override {
        constexpr int kRuns = 3;
        const cudaStream_t handle = handle_of(stream);
        cudaStreamCaptureStatus captured = cudaStreamCaptureStatusNone;
        check(cudaStreamIsCapturing(handle, &captured), "asking for a stream's graph");
        if (captured != cudaStreamCaptureStatusNone) {
            return std::nullopt;
        }
        const TimedEvent begin;
        const TimedEvent end;
        run(stream, of, way); // the library makes what it needs
        check(cudaEventRecord(begin.handle, handle), "timing a product");
        for (int i = 0; i < kRuns; ++i) {
            run(stream, of, way);
        }
        check(cudaEventRecord(end.handle, handle), "timing a product");
        check(cudaEventSynchronize(end.handle), "timing a product");
        float ms = 0.0f;
        check(cudaEventElapsedTime(&ms, begin.handle, end.handle), "timing a product");
        return static_cast<double>(ms) * 1e-3 / kRuns;
    }

    void run(weft_stream* stream, const ProductArrays& of, std::size_t way) const override {
        if (const void* numbers = of.sums != nullptr ? of.sums : of.bias; numbers != nullptr) {
            set(product_.handle, CUBLASLT_MATMUL_DESC_BIAS_POINTER, numbers);
        }
        if (of.aside != nullptr) {
            set(product_.handle, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, of.aside);
        }
        if (of.scale_a != nullptr) {
            set(product_.handle, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, of.scale_a);
            set(product_.handle, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, of.scale_b);
        }
        const float one = 1.0f;
        check_blas(cublasLtMatmul(library_.handle, product_.handle, &one, of.a, a_.handle, of.b,
                                  b_.handle, &before_, of.c, c_.handle, of.c, c_.handle,
                                  &algorithms_[way].chosen, of.workspace, workspace_bytes_,
                                  handle_of(stream)),
                   "a product");
    }

private:
    void layout(Layout& to, cudaDataType_t type, std::int64_t rows, std::int64_t columns,
                std::int64_t leading, std::int64_t stride) {
        check_blas(cublasLtMatrixLayoutCreate(&to.handle, type, static_cast<std::uint64_t>(rows),
                                              static_cast<std::uint64_t>(columns), leading),
                   "describing a matrix");
        const auto count = static_cast<std::int32_t>(batch_);
        check_blas(cublasLtMatrixLayoutSetAttribute(to.handle, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                                    &count, sizeof count),
                   "describing a matrix");
        check_blas(cublasLtMatrixLayoutSetAttribute(to.handle,
                                                    CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                    &stride, sizeof stride),
                   "describing a matrix");
    }

    /// The library's best guesses for these operands.
    void find_ways() {
        Preference preference;
        check_blas(cublasLtMatmulPreferenceCreate(&preference.handle), "describing a product");
        const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
            check_blas(cublasLtMatmulPreferenceSetAttribute(preference.handle, attribute, &value,
                                                            sizeof value),
                       "describing a product");
        };
        prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, std::uint64_t{kMostWorkspace});
        for (const auto operand : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                                   CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                                   CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                                   CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
            prefer(operand, std::uint32_t{kProductAlignment});
        }
        // Sums that are cut up are added from the workspace, in order, and not in place.
        prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
               std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE |
                             CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE});
        int count = 0;
        cublasLtMatmulHeuristicResult_t found[kMostWays];
        check_blas(cublasLtMatmulAlgoGetHeuristic(library_.handle, product_.handle, a_.handle,
                                                  b_.handle, c_.handle, c_.handle,
                                                  preference.handle, kMostWays, found, &count),
                   "choosing how to multiply");
        for (int i = 0; i < count; ++i) {
            if (found[i].state != CUBLAS_STATUS_SUCCESS) {
                continue;
            }
            // A plan has room for what the library would take, and no more.
            workspace_bytes_ = ways_.empty() ? found[i].workspaceSize : workspace_bytes_;
            if (found[i].workspaceSize <= workspace_bytes_) {
                algorithms_.push_back({found[i].algo});
                ways_.emplace_back(reinterpret_cast<const char*>(&found[i].algo),
                                   sizeof found[i].algo);
            }
        }
        if (ways_.empty()) {
            unsupported("cuBLASLt has no way to multiply these matrices");
        }
    }

    struct Algorithm {
        cublasLtMatmulAlgo_t chosen;
    };

    const Library& library_;
    std::int64_t batch_;
    float before_; // what c is multiplied by before the product comes to it
    Description product_;
    Layout a_, b_, c_;
    std::vector<Algorithm> algorithms_; // [way]
    std::vector<std::string> ways_;
    std::size_t workspace_bytes_ = 0;
};

} // namespace

std::unique_ptr<Product> library_product(const ProductShape& shape) {
    return std::make_unique<BlasProduct>(shape);
}

} // namespace weft::kernels::cuda
