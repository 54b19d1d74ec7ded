// Values that one dispatch stores in scratch for the next one.
layout(buffer_reference, scalar, buffer_reference_align = VALUE_BYTES) buffer Partial { Value at; };
