// SPDX-License-Identifier: Apache-2.0
// Which array of a source becomes which tensor of a model of ours: by our own names, or by those of
// the family that explains most of it.
#pragma once

#include "core/foreign/arrays.h"
#include "core/foreign/family.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::foreign {

/// A tensor of a model of ours that is to be filled.
struct Tensor {
    std::string name;
    ir::Type type;
    bool parameter = true; // false: a running statistic
};

enum class Fate : std::uint8_t {
    taken,   // as it is, whatever float type it has there
    turned,  // transposed, or reordered as a convolution's
    joined,  // out of several
    missing, // of the model, not in the source
    misfit,  // in both, of another shape or of no float type
    unused,  // in the source, not in the model
};
std::string_view fate_name(Fate fate); // "taken", "transposed", ..., "mismatched", "unexpected"

/// One line of the table of what became of which array.
struct MatchRow {
    Fate fate = Fate::taken;
    std::string ours;   // empty: unused
    std::string theirs; // empty: missing; several with " + " between
    std::string here;   // "f32[768,2304]"
    std::string there;  // "F16[768,2304]"
    bool parameter = true;
};

/// How one wanted tensor is read.
struct Link {
    std::size_t wanted = 0; // index
    std::vector<Array> parts;
    Layout layout = Layout::same;
};

struct Match {
    const Family* family = nullptr; // null: our own names
    std::vector<Link> links;        // of what fits
    std::vector<MatchRow> rows;     // of the model in its order, then what is unused

    std::vector<const MatchRow*> of(Fate fate) const;
    /// The model in full: nothing of it is missing or does not fit.
    bool complete() const;
};

/// `model`: our model type, whose families are tried.
Match match(const Arrays& source, const std::vector<Tensor>& wanted, std::string_view model);

/// The bytes that the wanted tensor takes. Throws weft::Error{checkpoint}.
std::vector<std::byte> read_linked(const Arrays& source, const Link& link, const ir::Type& type);

/// The table for people: a line for what is not simply taken, one for all blocks; then a sentence
/// of counts.
std::string table_of(const Match& match);

/// The numbers that stand where `pattern` has `*`; nullopt where the name is no such one.
std::optional<std::vector<std::string>> numbers_in(std::string_view pattern, std::string_view name);
/// The pattern with these numbers in place of its `*`.
std::string with_numbers(std::string_view pattern, const std::vector<std::string>& numbers);
/// The pair that is for this tensor of ours, and the names it has there; null: none.
struct Named {
    const TensorPair* pair = nullptr;
    std::vector<std::string> theirs;
};
Named named_there(const TensorPairs& pairs, std::string_view ours);

} // namespace weft::foreign
