// SPDX-License-Identifier: Apache-2.0
// User and environment faults. Thrown in load, compile and run; caught once at the top of each thread.
// Validation of user input never throws: it returns diagnostics (core/config/diagnostic.h).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace weft {

/// What went wrong, in the classes that the exit codes of `weft` distinguish.
enum class ErrorKind {
    runtime,    // exit 1
    usage,      // exit 2: bad command line or configuration
    data,       // exit 3: damaged or incompatible data
    checkpoint, // exit 3: damaged or incompatible checkpoint
    memory,     // exit 4: does not fit
    diverged,   // exit 5: non-finite loss or gradient
    device,     // exit 6: device or communication failure
};

/// An error in four parts: what happened (text), where (file, field, op, step), and what to do (hint).
class Error : public std::runtime_error {
public:
    Error(ErrorKind kind, std::string where, const std::string& text, std::string hint = {})
        : std::runtime_error(text), kind_(kind), where_(std::move(where)), hint_(std::move(hint)) {}

    ErrorKind kind() const { return kind_; }
    const std::string& where() const { return where_; }
    std::string text() const { return what(); }
    const std::string& hint() const { return hint_; }
    /// "where: text. hint" on one line, leaving out what is empty.
    std::string message() const;

private:
    ErrorKind kind_;
    std::string where_;
    std::string hint_;
};

/// "checkpoint", "data", ...: the name used in events.
std::string_view error_kind_name(ErrorKind kind);
/// The process exit code of INTERFACES.md.
int exit_code(ErrorKind kind);
/// What a fault says when the system gave no memory, or no thread; nullptr for any other fault.
const char* lack_of_memory(const std::exception& fault);

} // namespace weft
