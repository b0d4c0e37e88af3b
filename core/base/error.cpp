// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"

#include <new>
#include <system_error>

namespace weft {

std::string Error::message() const {
    std::string out = where_.empty() ? std::string() : where_ + ": ";
    out += what();
    if (!hint_.empty()) {
        if (!out.empty() && out.back() != '.') {
            out += '.';
        }
        out += ' ' + hint_;
    }
    return out;
}

std::string_view error_kind_name(ErrorKind kind) {
    switch (kind) {
    case ErrorKind::runtime: return "runtime";
    case ErrorKind::usage: return "usage";
    case ErrorKind::data: return "data";
    case ErrorKind::checkpoint: return "checkpoint";
    case ErrorKind::memory: return "memory";
    case ErrorKind::diverged: return "diverged";
    case ErrorKind::device: return "device";
    }
    return "runtime";
}

int exit_code(ErrorKind kind) {
    switch (kind) {
    case ErrorKind::runtime: return 1;
    case ErrorKind::usage: return 2;
    case ErrorKind::data:
    case ErrorKind::checkpoint: return 3;
    case ErrorKind::memory: return 4;
    case ErrorKind::diverged: return 5;
    case ErrorKind::device: return 6;
    }
    return 1;
}

const char* lack_of_memory(const std::exception& fault) {
    if (dynamic_cast<const std::bad_alloc*>(&fault) != nullptr) {
        return "this machine has not enough memory";
    }
    const auto* refused = dynamic_cast<const std::system_error*>(&fault);
    if (refused != nullptr && refused->code() == std::errc::resource_unavailable_try_again) {
        return "this machine starts no more threads: its memory or its limit of processes "
               "(ulimit -u) is used up";
    }
    return nullptr;
}

} // namespace weft
