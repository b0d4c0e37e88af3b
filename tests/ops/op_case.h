// SPDX-License-Identifier: Apache-2.0
// One row of the op table, and what the tests do with it: contents of operands, a program of one
// op, a run through the interpreter on the reference kernels.
#pragma once

#include "core/exec/interpreter.h"
#include "core/ops/builder.h"

#include <functional>
#include <string>
#include <vector>

namespace weft::test {

/// A call that the record must refuse, and the words.
struct Refused {
    std::vector<std::string> operands;
    ir::Attributes attributes;
    std::string text; // behind "<kind>: "
};

/// Operand `operand` is output `output` of op `kind` on other operands: what gradient ops are
/// given.
struct Derived {
    int operand;
    std::string kind;
    std::vector<int> inputs;
    int output;
};

using Emit = std::function<ir::ValueIds(ops::Builder&, const ir::ValueIds&)>;

struct OpCase {
    std::string kind;
    std::vector<std::string> operands{}; // "f64[2,3]+": see README.md
    ir::Attributes attributes{};
    std::vector<Refused> refused{};
    std::vector<Derived> derived{};
    std::vector<int> constant_operands{}; // floating-point operands that get no gradient by design
    Emit build{};                         // structured ops; else a plain emit_all
};

const std::vector<OpCase>& op_cases();
/// Those of block_cases.cpp.
void add_block_cases(std::vector<OpCase>& rows);
/// Those that one device computes: no exchanges.
std::vector<OpCase> computing_op_cases();

ir::Type parse_type(const std::string& operand);
std::vector<ir::Type> types_of(const std::vector<std::string>& operands);
/// Contents of operand number `index`.
exec::Tensor make_operand(const std::string& operand, int index);
/// Contents of all operands of a row.
std::vector<exec::Tensor> make_operands(const OpCase& row);

/// A program with one argument per type, the op, and one result per output.
ir::Program one_op_program(const OpCase& row, const std::vector<ir::Type>& types,
                           const ir::Attributes& attributes);
std::vector<exec::Tensor> run_case(const OpCase& row, const std::vector<exec::Tensor>& operands,
                                   const ir::Attributes& attributes);

/// Largest difference relative to 1 or the larger magnitude; infinite when types differ. Equal
/// infinities do not differ.
double largest_difference(const exec::Tensor& a, const exec::Tensor& b);
/// Elements as doubles, whatever the type (no bf16).
std::vector<double> numbers(const exec::Tensor& tensor);
void set_number(exec::Tensor& tensor, std::size_t at, double value);
/// "kind(operands)": the row in messages.
std::string describe(const OpCase& row);

} // namespace weft::test
