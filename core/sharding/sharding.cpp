// SPDX-License-Identifier: Apache-2.0
#include "core/sharding/sharding.h"

#include <algorithm>

namespace weft::sharding {
namespace {

std::int64_t size_of(const ops::FactorRule& rule, int factor) {
    return rule.factors[static_cast<std::size_t>(factor)].size;
}

/// Products of the factors before and behind one of a dimension's.
Surround beside(const std::vector<int>& factors, std::size_t at, const ops::FactorRule& rule) {
    Surround out;
    for (std::size_t i = 0; i < at; ++i) {
        out.before *= size_of(rule, factors[i]);
    }
    for (std::size_t i = at + 1; i < factors.size(); ++i) {
        out.behind *= size_of(rule, factors[i]);
    }
    return out;
}

} // namespace

bool Sharding::holds(const Mesh& mesh, std::int64_t device) const {
    return !pin || mesh.coordinates(device)[static_cast<std::size_t>(pin->axis)] == pin->index;
}

std::vector<std::int64_t> Sharding::holders(const Mesh& mesh) const {
    std::vector<std::int64_t> out;
    for (std::int64_t device = 0; device < mesh.devices(); ++device) {
        if (holds(mesh, device)) {
            out.push_back(device);
        }
    }
    return out;
}

bool Sharding::is_replicated() const {
    return partial.empty() && std::all_of(dims.begin(), dims.end(),
                                          [](const DimSharding& dim) { return dim.empty(); });
}

bool Sharding::uses(int axis) const {
    return std::any_of(dims.begin(), dims.end(), [&](const DimSharding& dim) {
        return std::any_of(dim.begin(), dim.end(), [&](const Split& split) {
            return std::find(split.axes.begin(), split.axes.end(), axis) != split.axes.end();
        });
    });
}

Deal deal(const Split& split, std::int64_t extent, const Mesh& mesh) {
    Deal out;
    out.devices = mesh.size(split.axes);
    WEFT_CHECK(extent % (split.parts * split.unit) == 0, "parts and units divide the dimension");
    out.units = extent / (split.parts * split.unit);
    out.local = (out.units + out.devices - 1) / out.devices;
    return out;
}

Split canonical(Split split, std::int64_t extent, const Mesh& mesh) {
    const Deal dealt = deal(split, extent, mesh);
    if (dealt.padding() == 0) {
        split.unit *= dealt.local;
    }
    return split;
}

bool fits(const Split& split, std::int64_t extent, const Mesh& mesh) {
    const std::int64_t block = split.parts * split.unit;
    return block > 0 && extent % block == 0 && extent / block >= mesh.size(split.axes);
}

int insert_split(DimSharding& dim, const Split& split, std::int64_t extent, const Mesh& mesh) {
    const auto run = [&](const Split& s) { return s.unit * deal(s, extent, mesh).units; };
    const auto where =
        std::find_if(dim.begin(), dim.end(), [&](const Split& s) { return s.parts > split.parts; });
    const bool inside = where == dim.begin() || (where - 1)->unit % run(split) == 0;
    const bool around_next = where == dim.end() || split.unit % run(*where) == 0;
    if (!inside || !around_next) {
        return -1;
    }
    const auto at = static_cast<int>(where - dim.begin());
    dim.insert(where, split);
    return at;
}

std::int64_t local_extent(const DimSharding& dim, std::int64_t extent, const Mesh& mesh) {
    std::int64_t out = extent;
    for (const Split& split : dim) {
        const Deal dealt = deal(split, extent, mesh);
        out = out / dealt.units * dealt.local;
    }
    return out;
}

ir::Type local_type(const ir::Type& type, const Sharding& sharding, const Mesh& mesh) {
    ir::Type out = type;
    for (int dim = 0; dim < type.shape.rank(); ++dim) {
        out.shape[dim] =
            local_extent(sharding.dims[static_cast<std::size_t>(dim)], type.shape[dim], mesh);
    }
    return out;
}

std::int64_t padding_bytes(const ir::Type& type, const Sharding& sharding, const Mesh& mesh) {
    std::int64_t shards = 1;
    for (const DimSharding& dim : sharding.dims) {
        for (const Split& split : dim) {
            shards *= mesh.size(split.axes);
        }
    }
    return shards * local_type(type, sharding, mesh).bytes() - type.bytes();
}

Surround around(const DimSharding& dim, std::size_t split, std::int64_t extent, const Mesh& mesh) {
    Surround out{dim[split].parts, dim[split].unit};
    for (std::size_t i = 0; i < dim.size(); ++i) {
        if (i != split) {
            const Deal dealt = deal(dim[i], extent, mesh);
            std::int64_t& side = i < split ? out.before : out.behind;
            side = side / dealt.units * dealt.local;
        }
    }
    return out;
}

std::optional<Split> to_factor(const Split& split, const std::vector<int>& factors, std::size_t at,
                               const ops::FactorRule& rule, const Mesh& mesh) {
    const Surround others = beside(factors, at, rule);
    const std::int64_t size = size_of(rule, factors[at]);
    if (others.before == 0 || others.behind == 0 || split.parts % others.before != 0 ||
        split.unit % others.behind != 0) {
        return std::nullopt;
    }
    const Split out{split.axes, split.parts / others.before, split.unit / others.behind};
    if (size % (out.parts * out.unit) != 0) {
        return std::nullopt;
    }
    return canonical(out, size, mesh);
}

Split from_factor(const Split& split, const std::vector<int>& factors, std::size_t at,
                  const ops::FactorRule& rule, const Mesh& mesh) {
    const Surround others = beside(factors, at, rule);
    const std::int64_t extent = others.before * size_of(rule, factors[at]) * others.behind;
    return canonical({split.axes, others.before * split.parts, split.unit * others.behind}, extent,
                     mesh);
}

ir::Spec to_spec(const Sharding& sharding, const Mesh& mesh) {
    ir::Spec out;
    const auto append = [&](std::span<const int> axes, std::vector<std::string>& names) {
        for (const int axis : axes) {
            names.push_back(mesh.axes[static_cast<std::size_t>(axis)].name);
        }
    };
    for (const DimSharding& dim : sharding.dims) {
        std::vector<std::string>& names = out.dims.emplace_back();
        for (const Split& split : dim) {
            append(split.axes, names);
        }
    }
    while (!out.dims.empty() && out.dims.back().empty()) {
        out.dims.pop_back();
    }
    append(sharding.partial, out.partial);
    return out;
}

Sharding from_spec(const ir::Spec& spec, const ir::Shape& shape, const Mesh& mesh) {
    Sharding out = Sharding::replicated(shape.rank());
    for (std::size_t dim = 0; dim < spec.dims.size(); ++dim) {
        Split split;
        for (const std::string& name : spec.dims[dim]) {
            const int axis = mesh.find(name);
            WEFT_CHECK(axis >= 0, "the spec was checked");
            if (mesh.size(axis) > 1) {
                split.axes.push_back(axis);
            }
        }
        if (!split.axes.empty()) {
            out.dims[dim] = {canonical(split, shape[static_cast<int>(dim)], mesh)};
        }
    }
    return out;
}

std::string check_spec(const ir::Spec& spec, const ir::Shape& shape, const Mesh& mesh) {
    if (static_cast<int>(spec.dims.size()) > shape.rank()) {
        return "the spec has " + std::to_string(spec.dims.size()) + " entries, but the array " +
               ir::to_text(shape) + " has " + std::to_string(shape.rank()) + " dimensions";
    }
    std::vector<std::string> seen;
    for (const std::vector<std::string>& names : spec.dims) {
        for (const std::string& name : names) {
            if (mesh.find(name) < 0) {
                return "the mesh has no axis '" + name + "' (it is " + mesh.to_text() + ")";
            }
            if (std::find(seen.begin(), seen.end(), name) != seen.end()) {
                return "mesh axis '" + name + "' is used twice";
            }
            seen.push_back(name);
        }
    }
    return {};
}

std::vector<Range> ranges(const DimSharding& dim, std::int64_t extent, const Mesh& mesh,
                          std::int64_t device) {
    std::vector<Range> out = {{0, extent, 0}};
    // Each split cuts the ranges so far, which cover whole blocks of its parts x units.
    for (const Split& split : dim) {
        const Deal dealt = deal(split, extent, mesh);
        const std::int64_t first = mesh.index(device, split.axes) * dealt.local;
        const std::int64_t count = std::clamp<std::int64_t>(dealt.units - first, 0, dealt.local);
        const std::int64_t block = dealt.units * split.unit; // of the whole
        const std::int64_t local_block = dealt.local * split.unit;
        std::vector<Range> cut;
        for (const Range& range : out) {
            for (std::int64_t part = 0; part < range.count / block && count > 0; ++part) {
                cut.push_back({range.first + part * block + first * split.unit, count * split.unit,
                               range.local / block * local_block + part * local_block});
            }
        }
        out = std::move(cut);
    }
    return out;
}

} // namespace weft::sharding
