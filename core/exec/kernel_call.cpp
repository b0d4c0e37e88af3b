// SPDX-License-Identifier: Apache-2.0
#include "core/exec/kernel_call.h"

#include "core/base/error.h"
#include "core/ops/op_def.h"

#include <map>
#include <utility>

namespace weft::exec {
namespace {

weft_tensor_type edge_type(const ir::Type& type) {
    weft_tensor_type out{};
    out.dtype = static_cast<std::int32_t>(type.dtype);
    out.rank = type.shape.rank();
    std::copy(type.shape.begin(), type.shape.end(), out.shape);
    return out;
}

// Fills one alternative of the attribute; text and lists point into `value`.
struct AttributeWriter {
    weft_attribute& out;

    void operator()(bool value) const {
        out.kind = WEFT_ATTRIBUTE_FLAG;
        out.integer = value ? 1 : 0;
    }
    void operator()(std::int64_t value) const {
        out.kind = WEFT_ATTRIBUTE_INTEGER;
        out.integer = value;
    }
    void operator()(double value) const {
        out.kind = WEFT_ATTRIBUTE_REAL;
        out.real = value;
    }
    void operator()(const std::string& value) const {
        out.kind = WEFT_ATTRIBUTE_TEXT;
        out.text = value.c_str();
    }
    void operator()(const std::vector<std::int64_t>& value) const {
        out.kind = WEFT_ATTRIBUTE_LIST;
        out.list = value.data();
        out.list_size = static_cast<std::int64_t>(value.size());
    }
};

std::int32_t count(std::size_t size) {
    return static_cast<std::int32_t>(size);
}

std::string last_error(const weft_backend& backend) {
    const std::string text = backend.last_error();
    return text.empty() ? "no further text" : text;
}

[[noreturn]] void fail_kernel(const std::string& where, const weft_backend& backend,
                              weft_status status) {
    const std::string text = std::string(backend.name) + " kernel failed: " + last_error(backend);
    if (status == WEFT_OUT_OF_MEMORY) {
        throw Error(ErrorKind::memory, where, text, "use a smaller micro_batch_size");
    }
    throw Error(ErrorKind::device, where, text,
                "run `weft doctor` to see what this machine offers");
}

std::string type_list(std::span<const weft_tensor_type> types) {
    std::string out;
    for (const weft_tensor_type& type : types) {
        const ir::Shape shape(std::span(type.shape, static_cast<std::size_t>(type.rank)));
        out += (out.empty() ? "" : ", ") +
               ir::to_text(ir::Type{static_cast<ir::DType>(type.dtype), shape});
    }
    return out;
}

} // namespace

KernelDesc::KernelDesc(const ir::Program& program, const ir::Op& op)
    : where_(ir::op_text(op)), attributes_(op.attributes) {
    for (const ir::ValueId input : op.inputs) {
        inputs_.push_back(edge_type(program.type(input)));
    }
    for (const ir::ValueId output : op.outputs) {
        outputs_.push_back(edge_type(program.type(output)));
    }
    add_attributes();
    if (op.structured()) {
        add_steps(program, op);
    }
    desc_.kind = ops::op_def(op.kind).name.data(); // the record's literal
    desc_.inputs = count(inputs_.size());
    desc_.outputs = count(outputs_.size());
    desc_.attributes = count(attribute_list_.size());
    desc_.steps = count(steps_.size());
    desc_.input_types = inputs_.data();
    desc_.output_types = outputs_.data();
    desc_.attribute_list = attribute_list_.data();
    desc_.step_list = steps_.data();
    desc_.output_registers = registers_.data();
}

void KernelDesc::add_attributes() {
    for (const auto& [name, value] : attributes_) {
        weft_attribute& out = attribute_list_.emplace_back();
        out.name = name.c_str();
        std::visit(AttributeWriter{out}, value);
    }
}

void KernelDesc::add_steps(const ir::Program& program, const ir::Op& op) {
    const ir::Block& body = op.body[0];
    std::map<ir::ValueId, std::int32_t> registers;
    for (const ir::ValueId argument : body.arguments) {
        registers.emplace(argument, count(registers.size()));
    }
    for (const ir::Op& inner : body.ops) {
        const int opcode = ops::op_def(inner.kind).elementwise;
        WEFT_CHECK(opcode >= 0 && inner.outputs.size() == 1, "a group holds elementwise ops only");
        weft_elementwise_step step{};
        step.opcode = opcode;
        step.dtype = static_cast<std::int32_t>(program.type(inner.outputs[0]).dtype);
        std::fill(std::begin(step.operand), std::end(step.operand), -1);
        for (std::size_t i = 0; i < inner.inputs.size(); ++i) {
            const auto at = registers.find(inner.inputs[i]);
            WEFT_CHECK(at != registers.end(), "a group uses only its inputs and its own values");
            step.operand[i] = at->second;
        }
        step.scale = inner.attributes.real("scale", 1.0);
        step.shift = inner.attributes.real("shift", 0.0);
        steps_.push_back(step);
        registers.emplace(inner.outputs[0], count(registers.size()));
    }
    for (const ir::ValueId result : body.results) {
        registers_.push_back(registers.at(result));
    }
}

std::vector<Candidate> candidates(const KernelDesc& call,
                                  std::span<const weft_backend* const> order) {
    std::vector<Candidate> out;
    for (const weft_backend* backend : order) {
        weft_query answer{};
        const weft_status status = backend->query(&call.desc(), &answer);
        if (status == WEFT_OK) {
            const char* name = answer.kernel_name == nullptr ? backend->name : answer.kernel_name;
            out.push_back({backend, answer.workspace_bytes, name});
        } else if (status != WEFT_UNSUPPORTED) {
            fail_kernel(call.where(), *backend, status);
        }
    }
    return out;
}

Candidate choose_backend(const KernelDesc& call, std::span<const weft_backend* const> order) {
    std::vector<Candidate> found = candidates(call, order);
    if (found.empty()) {
        const weft_op_desc& desc = call.desc();
        const std::span inputs(desc.input_types, static_cast<std::size_t>(desc.inputs));
        const std::span outputs(desc.output_types, static_cast<std::size_t>(desc.outputs));
        throw Error(ErrorKind::runtime, call.where(),
                    "no back end has a kernel for (" + type_list(inputs) + ") -> (" +
                        type_list(outputs) +
                        "): " + (order.empty() ? "there are none" : last_error(*order.back())),
                    "choose another precision or layer size");
    }
    return std::move(found.front());
}

Kernel::Kernel(const KernelDesc& call, const Candidate& candidate)
    : backend_(candidate.backend), workspace_bytes_(candidate.workspace_bytes),
      name_(candidate.kernel_name), where_(call.where()) {
    const weft_status status = backend_->prepare(&call.desc(), &kernel_);
    if (status != WEFT_OK) {
        fail_kernel(where_, *backend_, status);
    }
}

Kernel::~Kernel() {
    if (kernel_ != nullptr) {
        backend_->release(kernel_);
    }
}

Kernel::Kernel(Kernel&& other) noexcept
    : backend_(other.backend_), kernel_(std::exchange(other.kernel_, nullptr)),
      workspace_bytes_(other.workspace_bytes_), name_(std::move(other.name_)),
      where_(std::move(other.where_)) {}

Kernel& Kernel::operator=(Kernel&& other) noexcept {
    std::swap(backend_, other.backend_);
    std::swap(kernel_, other.kernel_);
    std::swap(workspace_bytes_, other.workspace_bytes_);
    std::swap(name_, other.name_);
    std::swap(where_, other.where_);
    return *this;
}

void Kernel::run(const void* const* inputs, void* const* outputs, void* workspace,
                 weft_stream* stream) const {
    const weft_run_args args{inputs, outputs, workspace, stream};
    const weft_status status = backend_->run(kernel_, &args);
    if (status != WEFT_OK) {
        fail_kernel(where_, *backend_, status);
    }
}

} // namespace weft::exec
