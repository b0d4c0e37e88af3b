// SPDX-License-Identifier: Apache-2.0
#include "core/foreign/match.h"

#include "core/base/text.h"
#include "core/foreign/family_list.h"
#include "core/foreign/write_model.h"

#include <algorithm>
#include <set>

namespace weft::foreign {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// The array of this name; also where the file lacks the first part of all its names.
const Array* find_named(const Arrays& source, const std::string& name, std::string_view prefix) {
    const Array* array = source.find(name);
    if (array == nullptr && !prefix.empty() && name.starts_with(prefix)) {
        array = source.find(std::string_view(name).substr(prefix.size()));
    }
    return array;
}

bool is_number(const Array& array) {
    return array.type && ir::is_float(array.type->dtype);
}

/// A type that our parameters have.
bool is_kept(ir::DType dtype) {
    return dtype == ir::DType::f32 || dtype == ir::DType::bf16;
}

/// Whether the parts, laid out our way and joined, have the type of the tensor.
bool fits(const Link& link, const ir::Type& type) {
    if (link.parts.size() == 1 && link.layout == Layout::same) {
        const Array& only = link.parts[0];
        return only.type && only.type->shape == type.shape &&
               (only.type->dtype == type.dtype || (is_kept(type.dtype) && is_number(only)));
    }
    const auto parts = static_cast<std::int64_t>(link.parts.size());
    const ir::Shape& whole = type.shape;
    if (!is_kept(type.dtype) || whole.rank() == 0 || whole.back() % parts != 0 ||
        (link.layout == Layout::transposed && whole.rank() != 2) ||
        (link.layout == Layout::convolution && whole.rank() != 4)) {
        return false;
    }
    ir::Shape part = whole;
    part[part.rank() - 1] /= parts;
    const ir::Shape there = shape_there(link.layout, part);
    return std::all_of(link.parts.begin(), link.parts.end(), [&](const Array& array) {
        return is_number(array) && array.type->shape == there;
    });
}

Fate fate_of(const Link& link) {
    const bool turned = link.layout == Layout::transposed || link.layout == Layout::convolution;
    return link.parts.size() > 1 ? Fate::joined : turned ? Fate::turned : Fate::taken;
}

constexpr std::size_t kFateWidth = 12;

/// "blocks.*.norm" of "blocks.11.norm".
std::string without_numbers(const std::string& name) {
    std::string out;
    for (std::size_t i = 0; i < name.size(); ++i) {
        const bool first = i == 0 || name[i - 1] == '.';
        std::size_t end = i;
        while (first && end < name.size() && is_digit(name[end])) {
            ++end;
        }
        const bool number = end > i && (end == name.size() || name[end] == '.');
        out += number ? '*' : name[i];
        i = number ? end - 1 : i;
    }
    return out;
}

struct TableLine {
    MatchRow row;
    int count = 1;
};

/// The rows that say something, those of all blocks as one.
std::vector<TableLine> lines_of(const Match& match) {
    std::vector<TableLine> out;
    for (MatchRow row : match.rows) {
        if (row.fate == Fate::taken) {
            continue;
        }
        row.ours = without_numbers(row.ours);
        row.theirs = without_numbers(row.theirs);
        const auto same = std::find_if(out.begin(), out.end(), [&](const TableLine& line) {
            return line.row.fate == row.fate && line.row.ours == row.ours &&
                   line.row.theirs == row.theirs && line.row.here == row.here &&
                   line.row.there == row.there;
        });
        if (same != out.end()) {
            ++same->count;
        } else {
            out.push_back({std::move(row), 1});
        }
    }
    return out;
}

std::string padded(const std::string& text, std::size_t width) {
    return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

/// What a family, or null for our own names, makes of the source.
Match match_as(const Arrays& source, const std::vector<Tensor>& wanted, const Family* family) {
    Match out;
    out.family = family;
    const TensorPairs pairs = family != nullptr ? family->tensors() : TensorPairs{};
    std::set<std::string_view> used;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        Named named{nullptr, {wanted[i].name}};
        if (family != nullptr) {
            named = named_there(pairs, wanted[i].name);
        }
        MatchRow row{Fate::missing,      wanted[i].name, "", ir::to_text(wanted[i].type), "",
                     wanted[i].parameter};
        Link link{i, {}, named.pair != nullptr ? named.pair->layout : Layout::same};
        for (const std::string& name : named.theirs) {
            const Array* array = find_named(source, name, family != nullptr ? family->prefix : "");
            if (array != nullptr) {
                link.parts.push_back(*array);
                row.theirs += (row.theirs.empty() ? "" : " + ") + array->name;
                row.there += (row.there.empty() ? "" : " + ") + array->text;
                used.insert(array->name);
            }
        }
        if (!link.parts.empty()) {
            const bool whole = link.parts.size() == named.theirs.size();
            row.fate = whole && fits(link, wanted[i].type) ? fate_of(link) : Fate::misfit;
        }
        if (row.fate != Fate::missing && row.fate != Fate::misfit) {
            out.links.push_back(std::move(link));
        }
        out.rows.push_back(std::move(row));
    }
    for (const Array& array : source.list) {
        const bool idle =
            family != nullptr &&
            std::any_of(family->idle.begin(), family->idle.end(),
                        [&](std::string_view pattern) { return glob_match(pattern, array.name); });
        if (!idle && !used.contains(array.name)) {
            out.rows.push_back({Fate::unused, "", array.name, "", array.text, false});
        }
    }
    return out;
}

/// How much of the model it finds, whatever its shape; then what fits.
std::pair<std::size_t, std::size_t> explained(const Match& match) {
    const auto found = std::count_if(match.rows.begin(), match.rows.end(), [](const MatchRow& row) {
        return row.fate != Fate::missing && row.fate != Fate::unused;
    });
    return {static_cast<std::size_t>(found), match.links.size()};
}

} // namespace

std::string_view fate_name(Fate fate) {
    switch (fate) {
    case Fate::taken: return "taken";
    case Fate::turned: return "transposed";
    case Fate::joined: return "joined";
    case Fate::missing: return "missing";
    case Fate::misfit: return "mismatched";
    case Fate::unused: return "unexpected";
    }
    return "";
}

std::vector<const MatchRow*> Match::of(Fate fate) const {
    std::vector<const MatchRow*> out;
    for (const MatchRow& row : rows) {
        if (row.fate == fate) {
            out.push_back(&row);
        }
    }
    return out;
}

bool Match::complete() const {
    return of(Fate::missing).empty() && of(Fate::misfit).empty();
}

Match match(const Arrays& source, const std::vector<Tensor>& wanted, std::string_view model) {
    Match best = match_as(source, wanted, nullptr);
    for (const Family* family : kFamilies) {
        if (family->model == model) {
            Match other = match_as(source, wanted, family);
            if (explained(other) > explained(best)) {
                best = std::move(other);
            }
        }
    }
    return best;
}

std::vector<std::byte> read_linked(const Arrays& source, const Link& link, const ir::Type& type) {
    if (link.parts[0].type->dtype == type.dtype && link.parts.size() == 1 &&
        link.layout == Layout::same) {
        return read_array(source, link.parts[0]);
    }
    std::vector<std::vector<float>> parts;
    for (const Array& array : link.parts) {
        parts.push_back(to_ours(link.layout, array.type->shape, read_floats(source, array)));
    }
    return as_stored(parts.size() == 1 ? std::move(parts[0]) : joined(parts, type.shape.rows()),
                     type.dtype);
}

std::string table_of(const Match& match) {
    const std::vector<TableLine> lines = lines_of(match);
    std::size_t ours = 0;
    std::size_t here = 0;
    for (const TableLine& line : lines) {
        ours = std::max(ours, line.row.ours.size());
        here = std::max(here, line.row.here.size());
    }
    std::string out;
    for (const auto& [row, count] : lines) {
        std::string text = padded(std::string(fate_name(row.fate)), kFateWidth) +
                           padded(row.ours, ours + 2) + padded(row.here, here + 2) + row.theirs +
                           (row.there.empty() ? "" : "  " + row.there) +
                           (count > 1 ? "  (" + std::to_string(count) + " times)" : "");
        out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
    }
    const auto count = [&](Fate fate) { return std::to_string(match.of(fate).size()); };
    return out + "By the names of " +
           (match.family != nullptr ? std::string(match.family->help) : std::string("Weft")) +
           ": " + count(Fate::taken) + " taken as they are, " + count(Fate::turned) +
           " transposed, " + count(Fate::joined) + " joined, " + count(Fate::missing) +
           " missing, " + count(Fate::misfit) + " mismatched, " + count(Fate::unused) +
           " unexpected.\n";
}

std::optional<std::vector<std::string>> numbers_in(std::string_view pattern,
                                                   std::string_view name) {
    std::vector<std::string> out;
    std::size_t at = 0;
    for (const char c : pattern) {
        if (c != '*') {
            if (at == name.size() || name[at] != c) {
                return std::nullopt;
            }
            ++at;
            continue;
        }
        const std::size_t first = at;
        while (at < name.size() && is_digit(name[at])) {
            ++at;
        }
        if (at == first) {
            return std::nullopt;
        }
        out.emplace_back(name.substr(first, at - first));
    }
    return at == name.size() ? std::optional(std::move(out)) : std::nullopt;
}

std::string with_numbers(std::string_view pattern, const std::vector<std::string>& numbers) {
    std::string out;
    std::size_t next = 0;
    for (const char c : pattern) {
        out += c == '*' ? numbers.at(next++) : std::string(1, c);
    }
    return out;
}

Named named_there(const TensorPairs& pairs, std::string_view ours) {
    for (const TensorPair& pair : pairs) {
        if (const auto numbers = numbers_in(pair.ours, ours)) {
            Named out{&pair, {}};
            for (const std::string& pattern : pair.theirs) {
                out.theirs.push_back(with_numbers(pattern, *numbers));
            }
            return out;
        }
    }
    return {};
}

} // namespace weft::foreign
