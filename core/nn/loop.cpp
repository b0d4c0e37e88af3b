// SPDX-License-Identifier: Apache-2.0
#include "core/nn/loop.h"

#include "core/base/check.h"

namespace weft::nn {

namespace {

ir::Type row_of(const ir::Type& type) {
    return {type.dtype, ir::Shape(type.shape.span().subspan(1))};
}

ir::Type rows_of(const ir::Type& row, std::int64_t count) {
    ir::Type out{row.dtype, {count}};
    for (const std::int64_t extent : row.shape) {
        out.shape.push_back(extent);
    }
    return out;
}

} // namespace

ir::ValueIds repeated(ops::Builder& b, std::int64_t count, const ir::ValueIds& carried,
                      const std::function<ir::ValueIds(const ir::ValueIds&)>& body) {
    const ir::ValueIds out = scanned(b, count, carried, {}, body);
    WEFT_CHECK(out.size() == carried.size(), "an iteration gives what the next takes");
    return out;
}

ir::ValueIds scanned(ops::Builder& b, std::int64_t count, const ir::ValueIds& carried,
                     const ir::ValueIds& rows,
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
    loop.inputs.insert(loop.inputs.end(), rows.begin(), rows.end());
    ir::Block block;
    for (const ir::ValueId value : carried) {
        block.arguments.push_back(b.program().add_value(ir::Type(b.type(value))));
    }
    for (const ir::ValueId value : rows) {
        block.arguments.push_back(b.program().add_value(row_of(b.type(value))));
    }
    b = ops::Builder(b.program(), block);
    b.set_path(outer.path());
    b.set_phase(outer.phase());
    block.results = body(block.arguments);
    b = outer;
    WEFT_CHECK(block.results.size() >= carried.size(), "an iteration gives what the next takes");
    for (std::size_t i = 0; i < block.results.size(); ++i) {
        const ir::Type type = b.type(block.results[i]);
        loop.outputs.push_back(
            b.program().add_value(i < carried.size() ? type : rows_of(type, count)));
    }
    loop.body.push_back(std::move(block));
    const ir::ValueIds outputs = loop.outputs;
    b.append(std::move(loop));
    return outputs;
}

} // namespace weft::nn
