// SPDX-License-Identifier: Apache-2.0
// The C functions of a back end, made from its ordered list: the first row that accepts an op wins.
#pragma once

#include "kernels/denormals.h"
#include "kernels/memory_reserve.h"
#include "kernels/op.h"

#include <exception>
#include <memory>
#include <new>

struct weft_kernel {
    std::unique_ptr<weft::kernels::Kernel> impl;
    const char* name;
};

namespace weft::kernels {

/// First row of `list` that makes a kernel for `desc`. Throws Failure.
weft_kernel make_kernel(std::span<const KernelEntry> list, const weft_op_desc& desc);

/// `rows`, and one for each single elementwise op.
std::vector<KernelEntry> with_elementwise(std::span<const KernelEntry> rows, const char* name,
                                          std::unique_ptr<Kernel> (*make)(const Op& op));

/// Runs `body`, which returns a status; turns what it throws into one. Libraries that cannot do
/// without memory are not called where none is kept for them.
template <class Body>
weft_status at_edge(Body body) noexcept {
    const DenormalsAreZero flush;
    if (!reserve_is_kept()) {
        return fail(WEFT_OUT_OF_MEMORY, "out of memory in a kernel");
    }
    try {
        const weft_status status = body();
        if (reserve_was_needed()) {
            throw std::bad_alloc();
        }
        return status;
    } catch (const Failure& failure) {
        return fail(failure.status, failure.text.c_str());
    } catch (const std::bad_alloc&) {
        reserve_was_needed(); // this is the call that tells
        return fail(WEFT_OUT_OF_MEMORY, "out of memory in a kernel");
    } catch (const std::exception& error) {
        return fail(WEFT_LIBRARY_ERROR, error.what());
    } catch (...) {
        return fail(WEFT_LIBRARY_ERROR, "a kernel library failed");
    }
}

template <std::span<const KernelEntry> (*List)()>
struct BackendOf {
    // Making a kernel to learn its workspace costs little: oneDNN keeps what it generated in its
    // cache, so the following prepare finds it there.
    static weft_status query(const weft_op_desc* desc, weft_query* result) {
        if (desc == nullptr || result == nullptr) {
            return fail(WEFT_BAD_ARGUMENT, "query without a description");
        }
        return at_edge([&] {
            const LentReserve room;
            const weft_kernel made = make_kernel(List(), *desc);
            *result = {made.impl->workspace_bytes(), made.name};
            return WEFT_OK;
        });
    }

    static weft_status prepare(const weft_op_desc* desc, weft_kernel** kernel) {
        if (desc == nullptr || kernel == nullptr) {
            return fail(WEFT_BAD_ARGUMENT, "prepare without a description");
        }
        return at_edge([&] {
            auto made = [&] {
                const LentReserve room;
                return std::make_unique<weft_kernel>(make_kernel(List(), *desc));
            }();
            if (reserve_was_needed()) {
                throw std::bad_alloc();
            }
            *kernel = made.release();
            return WEFT_OK;
        });
    }

    static weft_status run(weft_kernel* kernel, const weft_run_args* args) {
        if (kernel == nullptr || args == nullptr) {
            return fail(WEFT_BAD_ARGUMENT, "run without a kernel");
        }
        return at_edge([&] { return kernel->impl->run(*args); });
    }

    static void release(weft_kernel* kernel) { delete kernel; }

    static constexpr weft_backend named(const char* name) {
        return {name, query, prepare, run, release, weft_last_error};
    }
};

} // namespace weft::kernels
