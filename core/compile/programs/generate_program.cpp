// SPDX-License-Identifier: Apache-2.0
// Text generation with a key/value cache of the model's whole context.
#include "core/compile/programs/model_programs.h"

namespace weft::compile {

using ir::ValueId;

ir::Program build_generate(const RunModel& run, std::string name, std::int64_t positions) {
    ir::Program program;
    program.name = std::move(name);
    const ValueId tokens =
        program.add_argument(ir::Role::batch, "tokens", {ir::DType::i32, {1, positions}});
    const ValueId position =
        program.add_argument(ir::Role::scalar, "position", {ir::DType::i64, {}});
    ops::Builder b(program, program.body);
    nn::Surroundings around = run.surroundings(nn::Mode::decode);
    around.position = position;
    nn::ModelContext context(b, around);
    bind_parameters(run, b, context);
    const ir::DType kept = run.config->compute_dtype(); // of caches: what attention reads
    for (const nn::Variable& cache : run.caches) {
        const ValueId given =
            program.add_argument(ir::Role::state, cache.name, {kept, cache.shape});
        context.bind(cache.name, ops::cast(b, given, ir::DType::f32));
    }
    const ValueId output = run.model->build(context, run.model_settings(), tokens); // [1, T, V]
    for (const auto& [slot, value] : context.updates()) {
        program.add_result(ir::Role::state, slot, ops::cast(b, value, kept));
    }
    b.set_path("logits");
    const ValueId logits = nn::logits_of(*run.loss, b, output);
    const ir::Shape shape = b.shape(logits);
    program.add_result(ir::Role::output, "logits", ops::reshape(b, logits, {shape[1], shape[2]}));
    return program;
}

} // namespace weft::compile
