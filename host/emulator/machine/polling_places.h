// The instructions that have polled, whatever their address and device: what such a one reads is a flag.
#ifndef AIVOPS_MACHINE_POLLING_PLACES_H
#define AIVOPS_MACHINE_POLLING_PLACES_H

namespace aivops::machine {

void note_polling_place(const void* place);
bool is_polling_place(const void* place);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_POLLING_PLACES_H
