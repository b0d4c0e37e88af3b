// SPDX-License-Identifier: Apache-2.0
// Samples that a model can be asked in several forms, whose answers are votes for one.
#pragma once

#include "core/data/dataset.h"

namespace weft::data {

/// What a source offers beside samples as they are (form 0). Thread-safe for reading.
class AskedInForms {
public:
    virtual ~AskedInForms() = default;
    /// Forms of a sample, at least 1.
    virtual std::int64_t forms(std::int64_t index) const = 0;
    /// The input in a form, as Source::read writes one.
    virtual void read_form(std::int64_t index, std::int64_t form,
                           std::span<std::byte> input) const = 0;
    /// What the cells that a model fills in this form answer to the sample as it is; equal answers
    /// are equal texts. Empty: nothing.
    virtual std::string answer_in_form(std::int64_t index, std::int64_t form,
                                       std::span<const std::int32_t> cells) const = 0;
    /// The right answer; empty: nobody knows.
    virtual std::string right_answer(std::int64_t index) const = 0;
    /// Samples of one task are judged together.
    virtual std::string task(std::int64_t index) const = 0;
};

/// That of a source, or of what one that opens on demand has opened; null: it has samples as they
/// are alone.
const AskedInForms* asked_in_forms(const Source& source);

} // namespace weft::data
