// SPDX-License-Identifier: Apache-2.0
#include "core/nn/loop.h"

#include "core/base/check.h"

namespace weft::nn {

ir::ValueIds repeated(ops::Builder& b, std::int64_t count, const ir::ValueIds& carried,
                      const std::function<ir::ValueIds(const ir::ValueIds&)>& body) {
    const ops::Builder outer = b;
    ir::Op loop;
    loop.kind = "repeat";
    loop.path = b.path();
    loop.phase = b.phase();
    loop.attributes = {{"count", count},
                       {"carried", static_cast<std::int64_t>(carried.size())},
                       {"reverse", false}};
    loop.inputs = carried;
    ir::Block block;
    for (const ir::ValueId value : carried) {
        block.arguments.push_back(b.program().add_value(ir::Type(b.type(value))));
    }
    b = ops::Builder(b.program(), block);
    b.set_path(outer.path());
    b.set_phase(outer.phase());
    block.results = body(block.arguments);
    b = outer;
    WEFT_CHECK(block.results.size() == carried.size(), "an iteration gives what the next takes");
    for (const ir::ValueId value : carried) {
        loop.outputs.push_back(b.program().add_value(ir::Type(b.type(value))));
    }
    loop.body.push_back(std::move(block));
    const ir::ValueIds outputs = loop.outputs;
    b.append(std::move(loop));
    return outputs;
}

} // namespace weft::nn
