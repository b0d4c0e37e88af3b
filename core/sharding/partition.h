// SPDX-License-Identifier: Apache-2.0
// From the program on whole arrays to the program that every device of a mesh runs on its parts,
// with the exchanges between them. All devices run the same program; where a device needs to know
// its place, it reads the argument "coordinates" i64[axes].
#pragma once

#include "core/sharding/propagate.h"

#include <stop_token>

namespace weft::sharding {

/// Name of the scalar argument with the device's coordinates.
inline constexpr std::string_view kCoordinates = "coordinates";

/// What devices hold of a value of the whole program.
struct PlacedValue {
    ir::ValueId id; // of the local program; none: the whole program's value is made by no op of it
    Sharding placement;
};

struct PartitionedProgram {
    ir::Program program;             // on local parts
    std::vector<Sharding> arguments; // how each port's whole array is cut, in port order
    std::vector<Sharding> results;
    std::vector<ir::Type> argument_types; // of the whole arrays
    std::vector<ir::Type> result_types;
    std::vector<PlacedValue> values; // one per value of the whole program
};

/// Outputs of the program come complete: no partial sums. Stops with weft::Error{runtime}.
PartitionedProgram partition(const ir::Program& program, const ProgramAnnotations& annotations,
                             const Mesh& mesh, std::stop_token stop = {});

} // namespace weft::sharding
