/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel edge: the only interface between the engine and compute libraries. Plain C, so that a
 * back end can live in a module loaded at run time. Kernels return a status; they never throw,
 * never allocate after prepare, never print, and start no thread outside the one OpenMP team.
 *
 * Life of a kernel: query (can it do this op, with how much workspace?) -> prepare (create once) ->
 * run (many times, from one thread at a time) -> release. Tensors are dense and row-major. */
#ifndef WEFT_KERNELS_H
#define WEFT_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_MAX_RANK 8

typedef enum weft_dtype {
    WEFT_F32 = 0,
    WEFT_BF16 = 1,
    WEFT_F64 = 2,
    WEFT_I32 = 3,
    WEFT_I64 = 4,
    WEFT_U8 = 5,
    WEFT_F16 = 6
} weft_dtype;

typedef enum weft_status {
    WEFT_OK = 0,
    WEFT_UNSUPPORTED = 1,  /* this back end has no kernel for these types, shapes or attributes */
    WEFT_BAD_ARGUMENT = 2, /* the description is malformed: a bug in the caller */
    WEFT_OUT_OF_MEMORY = 3,
    WEFT_LIBRARY_ERROR = 4 /* oneDNN or another library failed; see weft_last_error */
} weft_status;

typedef struct weft_tensor_type {
    int32_t dtype; /* weft_dtype */
    int32_t rank;
    int64_t shape[WEFT_MAX_RANK];
} weft_tensor_type;

typedef enum weft_attribute_kind {
    WEFT_ATTRIBUTE_FLAG = 0,
    WEFT_ATTRIBUTE_INTEGER = 1,
    WEFT_ATTRIBUTE_REAL = 2,
    WEFT_ATTRIBUTE_TEXT = 3,
    WEFT_ATTRIBUTE_LIST = 4
} weft_attribute_kind;

typedef struct weft_attribute {
    const char* name;
    int32_t kind;    /* weft_attribute_kind */
    int64_t integer; /* flag, integer */
    double real;
    const char* text;
    const int64_t* list;
    int64_t list_size;
} weft_attribute;

/* Elementwise opcodes: unary, binary, ternary. Records in core/ops carry the same numbers.
 * Comparisons give 1.0 or 0.0. Constants of AFFINE and CLAMP are in weft_elementwise_step. */
typedef enum weft_elementwise {
    WEFT_EW_CAST = 0, /* rounding only: inside a group everything is f32 (f64 for f64 groups) */
    WEFT_EW_NEG,
    WEFT_EW_ABS,
    WEFT_EW_EXP,
    WEFT_EW_LOG,
    WEFT_EW_SQRT,
    WEFT_EW_RSQRT,
    WEFT_EW_TANH,
    WEFT_EW_SIGMOID,
    WEFT_EW_SQUARE,
    WEFT_EW_SIGN,
    WEFT_EW_IS_FINITE,
    WEFT_EW_RELU,
    WEFT_EW_GELU, /* tanh approximation */
    WEFT_EW_GELU_ERF,
    WEFT_EW_SILU,
    WEFT_EW_SYMLOG, /* sign(x) log(1 + |x|) */
    WEFT_EW_AFFINE, /* x * scale + shift */
    WEFT_EW_ADD,
    WEFT_EW_SUB,
    WEFT_EW_MUL,
    WEFT_EW_DIV,
    WEFT_EW_MAXIMUM,
    WEFT_EW_MINIMUM,
    WEFT_EW_POW,
    WEFT_EW_ATAN2, /* (y, x): the angle of the point x, y */
    WEFT_EW_LESS,  /* x < y */
    WEFT_EW_EQUAL,
    WEFT_EW_RELU_GRAD,     /* (x, dy) */
    WEFT_EW_GELU_GRAD,     /* (x, dy) */
    WEFT_EW_GELU_ERF_GRAD, /* (x, dy) */
    WEFT_EW_SILU_GRAD,     /* (x, dy) */
    WEFT_EW_TANH_GRAD,     /* (y, dy) */
    WEFT_EW_SIGMOID_GRAD,  /* (y, dy) */
    WEFT_EW_SELECT,        /* condition != 0 ? a : b */
    WEFT_EW_COUNT
} weft_elementwise;

/* One instruction of a fused elementwise group. Registers 0..inputs-1 hold the inputs; each
 * instruction writes the next register. */
typedef struct weft_elementwise_step {
    int32_t opcode; /* weft_elementwise */
    int32_t dtype;  /* weft_dtype of the result: a bf16 or f16 result is rounded at once, so that a
                       fused group gives the same numbers as its single ops */
    int32_t operand[3]; /* registers; -1 where unused */
    double scale, shift; /* AFFINE; rounded to f32 unless dtype is f64 */
} weft_elementwise_step;

/* Description of one op: what query and prepare read. Valid only during the call. */
typedef struct weft_op_desc {
    const char* kind; /* op name, e.g. "matmul"; "fused", or "sweep", for groups */
    int32_t inputs, outputs, attributes, steps;
    const weft_tensor_type* input_types;
    const weft_tensor_type* output_types;
    const weft_attribute* attribute_list;
    const weft_elementwise_step* step_list; /* groups only */
    const int32_t* output_registers;        /* groups only: registers of a tensor's outputs */
} weft_op_desc;

typedef struct weft_query {
    int64_t workspace_bytes; /* scratch that run needs; 64-byte aligned by the caller */
    const char* kernel_name; /* static string for plan and profiler, e.g. "onednn matmul" */
} weft_query;

typedef struct weft_kernel weft_kernel; /* opaque; owned by the back end that prepared it */

/* An ordered queue of work on a device; made and owned by the device edge, weft_device.h. */
typedef struct weft_stream weft_stream;

/* Pointers of one run, into the memory of the device that the back end computes on. An input
 * pointer may equal an output pointer only where the op's record declares the alias. */
typedef struct weft_run_args {
    const void* const* inputs;
    void* const* outputs;
    void* workspace;
    weft_stream* stream; /* run returns when the work is queued there; null: when it is done, on the
                            calling thread (cpu, reference) */
} weft_run_args;

typedef struct weft_backend {
    const char* name; /* "reference", "cpu", "cuda" */
    weft_status (*query)(const weft_op_desc* desc, weft_query* result);
    weft_status (*prepare)(const weft_op_desc* desc, weft_kernel** kernel);
    weft_status (*run)(weft_kernel* kernel, const weft_run_args* args);
    void (*release)(weft_kernel* kernel);
    const char* (*last_error)(void); /* weft_last_error of the module that the back end lies in */
} weft_backend;

/* Scalar, obvious, single-threaded; every op in f32 and f64 (and bf16 and f16, which round the
 * result). The oracle of every fast kernel. */
const weft_backend* weft_reference_backend(void);
/* oneDNN and SIMD kernels on the OpenMP team; WEFT_UNSUPPORTED sends the caller to the reference.
 */
const weft_backend* weft_cpu_backend(void);

/* Text of the last failure on the calling thread; "" when there was none. */
const char* weft_last_error(void);
/* "oneDNN 2.6.3" and the instruction set that it chose, for run.json and `weft doctor`. */
const char* weft_cpu_library_version(void);
const char* weft_cpu_instruction_set(void);
/* Size of the OpenMP team used from now on by the calling thread's kernels; 0 = all cores. */
void weft_set_threads(int32_t threads);
int32_t weft_thread_limit(void); /* OMP_THREAD_LIMIT; no team is larger */
int32_t weft_threads(void);
/* To be called between runs: looks, at most ten times a second, whether the members of the calling
 * thread's team had to wait for cores. If so they soon sleep where they wait for each other. Reads
 * /proc/thread-self/schedstat; without it nothing changes. */
void weft_observe_team(void);

/* Gives 96 MiB of address space back to the system, which were kept for who cannot do without
 * memory. The next query, prepare or run is WEFT_OUT_OF_MEMORY; those after it keep as much again,
 * or are WEFT_OUT_OF_MEMORY too. */
void weft_release_reserve(void);

/* What the whole team can do at best, per second. */
typedef struct weft_ceilings {
    double bf16_flops;     /* products of bf16 in the best unit that there is */
    double f32_flops;      /* f32 multiply-adds, counted as two */
    double bandwidth;      /* bytes read and written by an optimizer sweep over arrays in memory */
    double call_s;         /* of the smallest kernel call */
    const char* bf16_unit; /* static: "AMX tiles", "AVX-512 dot products", "f32 units" */
} weft_ceilings;
/* Measures for about a second with the calling thread's team; takes 384 MiB meanwhile. */
weft_status weft_measure_ceilings(weft_ceilings* result);

#ifdef __cplusplus
}
#endif

#endif
