// SPDX-License-Identifier: Apache-2.0
// The rows of numbers in blocks of eight bits, and of symbols in order.
#include "tests/ops/op_case.h"

namespace weft::test {

void add_block_cases(std::vector<OpCase>& rows) {
    const std::vector<Refused> blocks = {
        {{"f64[2,6]", "f64[]", "u8[2,6]", "f64[2,2]"},
         {{"block", std::int64_t{4}}, {"has_sign", true}},
         "blocks of 4 do not divide the last dimension of f64[2,6]"},
        {{"f64[2,8]", "f64[]", "f64[2,8]", "f64[2,2]"},
         {{"block", std::int64_t{4}}, {"has_sign", true}},
         "codes must be u8, but are f64[2,8]"}};
    rows.push_back({.kind = "quantize",
                    .operands = {"f64[2,8]", "f64[]=0", "u8[2,8]<256", "f64[2,2]"},
                    .attributes = {{"block", std::int64_t{4}}, {"has_sign", true}},
                    .refused = blocks});
    rows.push_back({.kind = "dequantize",
                    .operands = {"u8[2,8]<256", "f64[2,2]"},
                    .attributes = {{"block", std::int64_t{4}}, {"has_sign", false}},
                    .refused = {{{"u8[2,8]", "f64[2,3]"},
                                 {{"block", std::int64_t{4}}, {"has_sign", false}},
                                 "scales must have the shape [2,2], but is f64[2,3]"}}});
    // The first sample may end early, and of the second two neighbours may be alike.
    rows.push_back(
        {.kind = "ctc",
         .operands = {"f64[2,6,4]", "i32[2,3]<4"},
         .refused = {{{"f64[2,6]", "i32[2,3]"},
                      {},
                      "log_p are [B, T, C] with positions and classes, but are f64[2,6]"},
                     {{"f64[2,6,4]", "i32[3,3]"},
                      {},
                      "labels are [B, S] of the same samples, but are i32[3,3]"}}});
    rows.push_back({.kind = "ctc_grad",
                    .operands = {"f64[2,6,4]", "i32[2,3]<4", "f64[2]", "f64[2,6,7]", "f64[2]"},
                    .refused = {{{"f64[2,6,4]", "i32[2,3]", "f64[2]", "f64[2,6,6]", "f64[2]"},
                                 {},
                                 "alpha must have the shape [2,6,7], but is f64[2,6,6]"}},
                    .derived = {{2, "ctc", {0, 1}, 0}, {3, "ctc", {0, 1}, 1}}});
}

} // namespace weft::test
