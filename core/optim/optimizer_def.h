// SPDX-License-Identifier: Apache-2.0
// The record of an optimizer: settings, state slots, update as a graph. Where its ops are
// elementwise the fuse pass makes one sweep over a parameter of everything that happens to it; what
// looks at a whole parameter (its length, products) is put together from its parts on a mesh like
// any other op.
#pragma once

#include "core/config/field.h"
#include "core/ops/builder.h"

#include <string>
#include <string_view>
#include <vector>

namespace weft::optim {

/// An array that an optimizer keeps of a parameter, zero at the start.
struct StateArray {
    std::string name;
    ir::Shape shape;
    ir::DType dtype = ir::DType::f32;
};

/// What an update of one parameter reads; arrays have the parameter's shape unless
/// OptimizerDef::arrays gives another, all f32.
struct UpdateInputs {
    ir::ValueId parameter;
    ir::ValueId gradient;             // summed over the global batch and clipped
    ir::ValueIds state;               // one per name of OptimizerDef::state
    ir::ValueIds scalars;             // what OptimizerDef::prepare made
    ir::ValueId average = {};         // of optimizers that average
    ir::ValueId stays = {};           // f32[], 1 where the update is not taken
};

struct UpdateResult {
    ir::ValueId parameter;
    ir::ValueIds state; // same order as the input's
    ir::ValueId average = {}; // of optimizers that average
};

struct OptimizerDef {
    std::string_view name;
    std::string_view help;
    double default_learning_rate;
    /// Settings besides learning_rate and groups.
    config::FieldTable (*fields)();
    /// Rules between settings. Null: there are none.
    void (*check)(const config::Json& settings, const std::string& pointer,
                  config::Diagnostics& out);
    /// State arrays per parameter, all zero at the start: slot "optimizer.<name>/<parameter>".
    std::vector<std::string> (*state)(const config::Json& settings);
    /// Scalars f32[] shared by all parameters of a group. `learning_rate` f32[]; `step` i64[] is
    /// the number of updates that the group's state has seen before this one.
    ir::ValueIds (*prepare)(ops::Builder& builder, const config::Json& settings,
                            ir::ValueId learning_rate, ir::ValueId step);
    UpdateResult (*update)(ops::Builder& builder, const config::Json& settings,
                           const UpdateInputs& inputs);
    bool matrices_only = false; // takes no parameter of another rank than 2
    /// In place of `state` where arrays are not of the parameter's shape. Null: they are.
    std::vector<StateArray> (*arrays)(const config::Json& settings,
                                      const ir::Shape& parameter) = nullptr;
    bool keeps_itself = false; // where an update is not taken it gives the state as it was
    bool averages = false; // its update moves the average of the weights, which starts as they do
};

/// The arrays that an optimizer keeps of a parameter of this shape.
std::vector<StateArray> arrays_of(const OptimizerDef& optimizer, const config::Json& settings,
                                  const ir::Shape& parameter);

} // namespace weft::optim
