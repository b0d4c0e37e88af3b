// SPDX-License-Identifier: Apache-2.0
#include "core/stages/stage_program.h"

#include <algorithm>

namespace weft::stages {
namespace {

using ir::Op;
using ir::ValueId;

std::size_t slot(ValueId id) {
    return static_cast<std::size_t>(id.index);
}

/// "add at blocks.2, microbatch 3, for stage 1".
std::string cause_of(const Source& source, ValueId id, int microbatch, int to) {
    const Op* op = source.maker[slot(id)];
    const ir::Port* port = source.port[slot(id)];
    std::string out = port != nullptr ? port->name : op == nullptr ? "value" : op_text(*op);
    if (op != nullptr && op->phase == ir::Phase::backward) {
        out = "gradient: " + out;
    }
    if (microbatch != kOutside) {
        out += ", microbatch " + std::to_string(microbatch);
    }
    return out + ", for stage " + std::to_string(to);
}

} // namespace

Source::Source(const ir::Program& whole, const StageMap& stage_map, int stages)
    : program(whole), map(stage_map), parts(whole, stage_map), maker(whole.values.size(), nullptr),
      port(whole.values.size(), nullptr), body_argument(whole.values.size(), -1),
      loop_output(whole.values.size(), -1), in_loop(whole.values.size(), false),
      place(whole.values.size(), -1), places(static_cast<std::size_t>(stages), 0) {
    for (std::size_t i = 0; i < place.size(); ++i) {
        const int part = parts.of(ValueId{static_cast<std::int32_t>(i)});
        place[i] = part == kAnywhere ? -1 : places[static_cast<std::size_t>(part % stages)]++;
    }
    for (const ir::Port& one : whole.arguments) {
        port[slot(one.value)] = &one;
    }
    for (const Op& op : whole.body.ops) {
        for (std::size_t i = 0; i < op.outputs.size(); ++i) {
            maker[slot(op.outputs[i])] = &op;
            loop_output[slot(op.outputs[i])] = &op == parts.loop() ? static_cast<int>(i) : -1;
        }
    }
    if (parts.loop() == nullptr) {
        return;
    }
    const ir::Block& body = parts.loop()->body.front();
    for (std::size_t i = 0; i < body.arguments.size(); ++i) {
        body_argument[slot(body.arguments[i])] = static_cast<int>(i);
        in_loop[slot(body.arguments[i])] = true;
    }
    for (const Op& op : body.ops) {
        for (const ValueId id : op.outputs) {
            maker[slot(id)] = &op;
            in_loop[slot(id)] = true;
        }
    }
}

Mail::Mail(int stages)
    : stages_(stages), channels_(static_cast<std::size_t>(stages * stages)),
      clocks_(static_cast<std::size_t>(stages),
              std::vector<int>(static_cast<std::size_t>(stages), 0)) {}

StageProgram::StageProgram(const Source& source, const PipelineAxis& axis, Mail& mail, int stage)
    : source_(source), axis_(axis), mail_(mail), stage_(stage) {
    program_.name = source.program.name;
    const ir::Op* loop = source.parts.loop();
    const auto copies =
        static_cast<std::size_t>(loop == nullptr ? 1 : loop->attributes.integer("count"));
    program_.values.reserve(copies *
                            static_cast<std::size_t>(source.places[static_cast<std::size_t>(stage)]));
}

const Op& StageProgram::append(Op op) {
    op.action = action_;
    ++mail_.clock(stage_)[static_cast<std::size_t>(stage_)];
    program_.body.ops.push_back(std::move(op));
    return program_.body.ops.back();
}

ValueId StageProgram::known(int microbatch, ValueId id) const {
    if (has_place(id)) {
        const auto row = static_cast<std::size_t>(microbatch + 1);
        return row < own_.size() && !own_[row].empty()
                   ? own_[row][static_cast<std::size_t>(source_.place[slot(id)])]
                   : ValueId();
    }
    const auto found = others_.find(key(microbatch, id));
    return found == others_.end() ? ValueId() : found->second;
}

void StageProgram::know(int microbatch, ValueId id, ValueId own) {
    if (!has_place(id)) {
        others_[key(microbatch, id)] = own;
        return;
    }
    const auto row = static_cast<std::size_t>(microbatch + 1);
    own_.resize(std::max(own_.size(), row + 1));
    own_[row].resize(static_cast<std::size_t>(source_.places[static_cast<std::size_t>(stage_)]));
    own_[row][static_cast<std::size_t>(source_.place[slot(id)])] = own;
}

void StageProgram::emit(const Op& op, int microbatch) {
    Op copy = op;
    for (ValueId& id : copy.inputs) {
        id = local(microbatch, id);
    }
    const auto fresh = [this](ValueId id) {
        const ValueId made = program_.add_value(ir::Type(source_.program.type(id)));
        program_.value(made).name = source_.program.value(id).name;
        return made;
    };
    for (ir::Block& body : copy.body) { // of a fused op: values of its own
        std::unordered_map<std::int32_t, ValueId> inner;
        const auto define = [&](ValueId& id) { id = inner[id.index] = fresh(id); };
        std::for_each(body.arguments.begin(), body.arguments.end(), define);
        for (Op& one : body.ops) {
            for (ValueId& id : one.inputs) {
                id = inner.at(id.index);
            }
            std::for_each(one.outputs.begin(), one.outputs.end(), define);
        }
        for (ValueId& id : body.results) {
            id = inner.at(id.index);
        }
    }
    for (ValueId& id : copy.outputs) {
        const ValueId made = fresh(id);
        know(microbatch, id, made);
        id = made;
    }
    append(std::move(copy));
}

ValueId StageProgram::local(int microbatch, ValueId id) {
    if (!source_.in_loop[slot(id)]) {
        microbatch = kOutside;
    }
    const ValueId own = known(microbatch, id);
    return own.valid() ? own : make(microbatch, id);
}

ValueId StageProgram::make(int microbatch, ValueId id) {
    const int part = source_.parts.of(id);
    if (part != kAnywhere && !is_here(part)) {
        return receive(microbatch, id);
    }
    if (source_.port[slot(id)] != nullptr) {
        add_argument(id);
    } else if (source_.body_argument[slot(id)] >= 0) {
        return body_argument(microbatch, id);
    } else if (const int output = source_.loop_output[slot(id)]; output >= 0) {
        const Op& loop = *source_.parts.loop();
        const auto last = static_cast<int>(loop.attributes.integer("count")) - 1;
        return part == kAnywhere
                   ? local(last, loop.body.front().results[static_cast<std::size_t>(output)])
                   : carried(output);
    } else {
        WEFT_CHECK(part == kAnywhere, "an op of this stage was written before it is read");
        emit(*source_.maker[slot(id)], microbatch);
    }
    return known(microbatch, id);
}

ValueId StageProgram::body_argument(int microbatch, ValueId id) {
    const Op& loop = *source_.parts.loop();
    const auto position = static_cast<std::size_t>(source_.body_argument[slot(id)]);
    if (position >= static_cast<std::size_t>(loop.attributes.integer("carried"))) {
        const ValueId part = slice_of(local(kOutside, loop.inputs[position]), microbatch);
        know(microbatch, id, part);
        return part;
    }
    if (source_.parts.of(id) != kAnywhere) {
        return carried(static_cast<int>(position));
    }
    return microbatch == 0 ? local(kOutside, loop.inputs[position])
                           : local(microbatch - 1, loop.body.front().results[position]);
}

ValueId StageProgram::carried(int position) {
    const auto found = carried_.find(position);
    if (found != carried_.end()) {
        return found->second;
    }
    return local(kOutside, source_.parts.loop()->inputs[static_cast<std::size_t>(position)]);
}

void StageProgram::carry(int position, int microbatch) {
    const Op& loop = *source_.parts.loop();
    const auto index = static_cast<std::size_t>(position);
    const ValueId value = local(microbatch, loop.body.front().results[index]);
    program_.value(value).name = source_.program.value(loop.outputs[index]).name;
    carried_[position] = value;
}

ValueId StageProgram::slice_of(ValueId stack, int index) {
    const ir::Shape shape = program_.type(stack).shape;
    std::vector<std::int64_t> starts(static_cast<std::size_t>(shape.rank()), 0);
    std::vector<std::int64_t> sizes(shape.begin(), shape.end());
    starts.front() = index;
    sizes.front() = 1;
    ops::Builder builder(program_, program_.body);
    builder.set_path("microstep");
    const std::size_t first = program_.body.ops.size();
    const ValueId piece = ops::slice(builder, stack, std::move(starts), std::move(sizes));
    const ValueId out = ops::reshape(builder, piece, ir::Shape(shape.span().subspan(1)));
    for (std::size_t i = first; i < program_.body.ops.size(); ++i) {
        program_.body.ops[i].action = action_;
    }
    return out;
}

void StageProgram::add_argument(ValueId id) {
    const ir::Port& port = *source_.port[slot(id)];
    know(kOutside, id, program_.add_argument(port.role, port.name, source_.program.type(id)));
}

void StageProgram::add_result(const ir::Port& port) {
    program_.add_result(port.role, port.name, local(kOutside, port.value));
}

ir::Program StageProgram::take() {
    end_action();
    free_all();
    return std::move(program_);
}

Op StageProgram::message_op(std::string kind, int peer, const Message& message) const {
    Op op;
    op.kind = std::move(kind);
    op.attributes = {{"axes", axis_.name},
                     {"count", axis_.stages},
                     {"peer", static_cast<std::int64_t>(peer)},
                     {"cause", message.cause}};
    const Op* maker = source_.maker[slot(message.value)];
    if (maker != nullptr && !maker->path.empty()) {
        const bool backward = maker->phase == ir::Phase::backward;
        op.attributes.set("what", backward ? "gradient of " + maker->path + " input"
                                           : maker->path + " output");
        op.attributes.set("why", backward ? "the layers before it lie on another stage"
                                          : "the layers behind it lie on another stage");
    }
    op.path = maker != nullptr ? maker->path : ir::Name(layer_of_path(message.cause));
    op.phase = message.phase;
    return op;
}

void StageProgram::send(int microbatch, ValueId id, int to) {
    Message message;
    message.microbatch = microbatch;
    message.value = id;
    message.cause = cause_of(source_, id, microbatch, to);
    message.local = local(microbatch, id);
    const Op* maker = source_.maker[slot(id)];
    message.phase =
        maker == nullptr || maker == source_.parts.loop() ? ir::Phase::forward : maker->phase;
    Op op = message_op("send", to, message);
    op.inputs = {message.local};
    op.outputs = {program_.add_value({ir::DType::i32, {}})};
    message.ticket = append(std::move(op)).outputs.front();
    message.clock = mail_.clock(stage_);
    mail_.channel(stage_, to).messages.push_back(std::move(message));
}

ValueId StageProgram::receive(int microbatch, ValueId id) {
    const int from = std::max(0, source_.parts.of(id)) % mail_.stages();
    // In the sender's order: what was sent before comes first, needed or not yet.
    while (!known(microbatch, id).valid()) {
        take_message(from);
    }
    return known(microbatch, id);
}

void StageProgram::take_message(int from) {
    Mail::Channel& channel = mail_.channel(from, stage_);
    WEFT_CHECK(channel.taken < channel.messages.size(), "what a stage reads was sent to it");
    Message& message = channel.messages[channel.taken++];
    const ir::Type& type = source_.program.type(message.value);
    Op op = message_op("receive", from, message);
    op.attributes.set("dtype", std::string(ir::dtype_name(type.dtype)));
    op.attributes.set("shape", std::vector<std::int64_t>(type.shape.begin(), type.shape.end()));
    const ValueId made = program_.add_value(ir::Type(type));
    program_.value(made).name = source_.program.value(message.value).name;
    op.outputs = {made};
    append(std::move(op));
    know(message.microbatch, message.value, made);
    std::vector<int>& clock = mail_.clock(stage_);
    message.received = clock[static_cast<std::size_t>(stage_)];
    for (std::size_t i = 0; i < clock.size(); ++i) {
        clock[i] = std::max(clock[i], message.clock[i]);
    }
    free_known();
}

void StageProgram::free_known() {
    for (int to = 0; to < mail_.stages(); ++to) {
        Mail::Channel& channel = mail_.channel(stage_, to);
        while (channel.freed < channel.taken &&
               channel.messages[channel.freed].received <=
                   mail_.clock(stage_)[static_cast<std::size_t>(to)]) {
            wait_sent(channel.messages[channel.freed++], to);
        }
    }
}

void StageProgram::free_all() {
    for (int to = 0; to < mail_.stages(); ++to) {
        Mail::Channel& channel = mail_.channel(stage_, to);
        while (channel.freed < channel.messages.size()) {
            wait_sent(channel.messages[channel.freed++], to);
        }
    }
}

void StageProgram::wait_sent(Message& message, int to) {
    Op op = message_op("sent", to, message);
    op.inputs = {message.local, message.ticket};
    op.outputs = {program_.add_value({ir::DType::i32, {}})};
    append(std::move(op));
}

} // namespace weft::stages
