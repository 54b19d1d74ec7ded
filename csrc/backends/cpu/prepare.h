// Packs constant inputs once, into the form that their kernel reads.
#pragma once

#include <ferrule/backend.hpp>

namespace ferrule::cpu {

// The packed form that the node's kernel wants for a constant input; and the function that packs it.
sdk::PreparedForm prepared_form(const fe_graph_view& view, uint32_t node, uint32_t input);
void prepare(const fe_graph_view& view, uint32_t node, uint32_t input, const fe_binding& from, const fe_binding& to);

}  // namespace ferrule::cpu
