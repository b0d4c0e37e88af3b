// SPDX-License-Identifier: Apache-2.0
// DTensor applies placements in the order of the mesh's axes, each to what the one before left.
// `_StridedShard(dim, split_factor)` cuts as if so many cuts of the dimension had been made before
// (torch/distributed/tensor/placement_types.py).
#include "core/sharding/spec_text.h"

#include "core/ir/lexer.h"
#include "core/ir/text.h"

#include <algorithm>

namespace weft::sharding {
namespace {

constexpr std::string_view kNoMesh = "plain tensor";
constexpr const char* kPlacementHint = "write [Shard(0), Replicate()], or P('data', None)";

/// The axes with a placement.
std::vector<int> placed_axes(const Mesh& mesh, std::optional<int> stages) {
    std::vector<int> out;
    for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
        if (axis != stages) {
            out.push_back(axis);
        }
    }
    return out;
}

/// Cuts of the dimension that come before this axis's, by axes behind it in the mesh; 1: none.
std::int64_t split_factor(const std::vector<std::string>& names, std::size_t place,
                          const Mesh& mesh) {
    const int own = mesh.find(names[place]);
    std::int64_t out = 1;
    for (std::size_t i = 0; i < place; ++i) {
        const int before = mesh.find(names[i]);
        out *= before > own ? mesh.size(before) : 1;
    }
    return out;
}

std::string shard_text(std::size_t dim, std::int64_t factor) {
    return factor == 1 ? "Shard(" + std::to_string(dim) + ")"
                       : "_StridedShard(" + std::to_string(dim) +
                             ", split_factor=" + std::to_string(factor) + ")";
}

std::string placement_text(const ir::Spec& spec, int axis, const Mesh& mesh) {
    const std::string& name = mesh.axes[static_cast<std::size_t>(axis)].name;
    for (std::size_t dim = 0; dim < spec.dims.size(); ++dim) {
        const std::vector<std::string>& names = spec.dims[dim];
        const auto found = std::find(names.begin(), names.end(), name);
        if (found != names.end()) {
            return shard_text(
                dim, split_factor(names, static_cast<std::size_t>(found - names.begin()), mesh));
        }
    }
    const bool summed =
        std::find(spec.partial.begin(), spec.partial.end(), name) != spec.partial.end();
    return summed ? "Partial()" : "Replicate()";
}

/// One placement as it is written.
struct ReadPlacement {
    enum class Kind : std::uint8_t { shard, replicate, partial };
    Kind kind = Kind::replicate;
    std::int64_t dim = 0;
    std::int64_t factor = 1;
};

std::int64_t read_number(ir::Lexer& lexer, std::string_view name) {
    if (lexer.take(name)) {
        lexer.expect("=");
    }
    if (lexer.peek().kind != ir::Token::Kind::integer || lexer.peek().integer < 0) {
        lexer.fail("expected a number for " + std::string(name) + ", found " +
                       ir::describe(lexer.peek()),
                   kPlacementHint);
    }
    return lexer.next().integer;
}

ReadPlacement read_placement(ir::Lexer& lexer) {
    using Kind = ReadPlacement::Kind;
    ReadPlacement out;
    const bool strided = lexer.take("_StridedShard");
    const bool shard = strided || lexer.take("Shard");
    const bool partial = !shard && lexer.take("Partial");
    if (!shard && !partial && !lexer.take("Replicate")) {
        lexer.fail("a placement is Shard(0), Replicate() or Partial(), not " +
                       ir::describe(lexer.peek()),
                   kPlacementHint);
    }
    out.kind = shard ? Kind::shard : partial ? Kind::partial : Kind::replicate;
    lexer.expect("(");
    if (shard) {
        out.dim = read_number(lexer, "dim");
    }
    if (strided) {
        lexer.expect(",");
        out.factor = read_number(lexer, "split_factor");
    }
    lexer.expect(")");
    return out;
}

std::vector<ReadPlacement> read_placements(ir::Lexer& lexer) {
    std::vector<ReadPlacement> out;
    lexer.expect("[");
    while (!lexer.take("]")) {
        out.push_back(read_placement(lexer));
        if (!lexer.take(",")) {
            lexer.expect("]");
            break;
        }
    }
    if (lexer.peek().kind != ir::Token::Kind::end) {
        lexer.fail("unexpected " + ir::describe(lexer.peek()) + " after the placements");
    }
    return out;
}

/// Puts an axis among those behind it in the mesh, where so many cuts come before it.
void insert_axis(std::vector<std::string>& names, const ReadPlacement& placement,
                 const std::string& name, const Mesh& mesh, const ir::Lexer& lexer) {
    std::int64_t cuts = 1;
    auto place = names.begin();
    while (cuts < placement.factor && place != names.end()) {
        cuts *= mesh.size(mesh.find(*place++));
    }
    if (cuts != placement.factor) {
        lexer.fail("split_factor " + std::to_string(placement.factor) + " of axis '" + name +
                       "' is not the number of cuts by axes behind it",
                   "the mesh is " + mesh.to_text());
    }
    names.insert(place, name);
}

} // namespace

std::string spec_text(const ir::Spec& spec, const Mesh& mesh, SpecDialect dialect,
                      std::optional<int> stages) {
    if (dialect == SpecDialect::jax) {
        return ir::to_text(spec);
    }
    std::string out;
    for (const int axis : placed_axes(mesh, stages)) {
        out += (out.empty() ? "" : ", ") + placement_text(spec, axis, mesh);
    }
    return out.empty() ? std::string(kNoMesh) : "[" + out + "]";
}

std::string spec_text(const Sharding& sharding, const Mesh& mesh, SpecDialect dialect) {
    return spec_text(to_spec(sharding, mesh), mesh, dialect,
                     sharding.pin ? std::optional(sharding.pin->axis) : std::nullopt);
}

ir::Spec parse_spec_text(std::string_view text, const Mesh& mesh, std::optional<int> stages) {
    ir::Lexer lexer(text);
    if (lexer.peek().text != "[") {
        return ir::parse_spec(text);
    }
    const std::vector<ReadPlacement> read = read_placements(lexer);
    const std::vector<int> axes = placed_axes(mesh, stages);
    if (read.size() != axes.size()) {
        lexer.fail("there are " + std::to_string(read.size()) + " placements for " +
                       std::to_string(axes.size()) + " axes",
                   "one for each of " + placement_axes(mesh, stages));
    }
    ir::Spec out;
    for (std::size_t i = axes.size(); i-- > 0;) { // split factors speak of the axes behind
        const std::string& name = mesh.axes[static_cast<std::size_t>(axes[i])].name;
        if (read[i].kind == ReadPlacement::Kind::partial) {
            out.partial.insert(out.partial.begin(), name);
        } else if (read[i].kind == ReadPlacement::Kind::shard) {
            if (read[i].dim >= ir::Shape::kMaxRank) {
                lexer.fail("arrays have at most " + std::to_string(ir::Shape::kMaxRank) +
                           " dimensions");
            }
            const auto dim = static_cast<std::size_t>(read[i].dim);
            out.dims.resize(std::max(out.dims.size(), dim + 1));
            insert_axis(out.dims[dim], read[i], name, mesh, lexer);
        }
    }
    return out;
}

std::string placement_axes(const Mesh& mesh, std::optional<int> stages) {
    std::string out;
    for (const int axis : placed_axes(mesh, stages)) {
        out += (out.empty() ? "" : ", ") + mesh.axes[static_cast<std::size_t>(axis)].name;
    }
    return out;
}

std::vector<std::string> dtensor_gaps(const Sharding& sharding, const ir::Shape& shape,
                                      const Mesh& mesh) {
    std::vector<std::string> out;
    for (std::size_t dim = 0; dim < sharding.dims.size(); ++dim) {
        const std::string name = "dimension " + std::to_string(dim);
        std::vector<int> axes;
        bool uneven = false;
        for (const Split& split : sharding.dims[dim]) {
            axes.insert(axes.end(), split.axes.begin(), split.axes.end());
            uneven |= deal(split, shape[static_cast<int>(dim)], mesh).padding() > 0;
            if (split.parts > 1) {
                out.push_back(name + " is split in each of its " + std::to_string(split.parts) +
                              " parts, where Shard cuts it once as a whole");
            }
        }
        if (!std::is_sorted(axes.begin(), axes.end())) {
            out.push_back(name + " is split in another order than the mesh's axes, which Shard "
                                 "follows; _StridedShard is private to PyTorch");
        }
        if (uneven && axes.size() > 1) {
            out.push_back(name + " is dealt out unevenly at once, where DTensor goes axis by axis");
        }
    }
    return out;
}

} // namespace weft::sharding
