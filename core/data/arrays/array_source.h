// SPDX-License-Identifier: Apache-2.0
// Samples out of two arrays, inputs and targets: what the formats npy and hdf5 share.
#pragma once

#include "core/data/arrays/array_form.h"
#include "core/data/split.h"

namespace weft::data {

/// Settings that both formats have beside where the arrays are.
config::FieldTable array_fields();

/// The source of a pair; `settings` has array_fields(). `notes` receives what was decided. Throws
/// weft::Error{data} for arrays that do not belong together or are no samples.
std::shared_ptr<const Source> open_arrays(ArrayPair pair, const config::Json& settings,
                                          const OpenContext& context, Notes& notes);

/// Of what open_arrays would return. Reads targets, whose values tell the classes; no inputs.
PartOutline outline_arrays(const ArrayPair& pair, const config::Json& settings,
                           const OpenContext& context);

/// FormatDef::fitted of both formats.
std::shared_ptr<const Source> fit_arrays(const std::shared_ptr<const Source>& opened,
                                         const config::Json& settings,
                                         std::span<const Run> training, const OpenContext& context,
                                         Notes& notes);

/// FormatDef::look of both: shapes and types, classes with their counts.
Look look_at_arrays(const ArrayPair& pair, const config::Json& settings,
                    const OpenContext& context);

} // namespace weft::data
