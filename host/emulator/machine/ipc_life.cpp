#include "ipc_life.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aivops::machine {
namespace {

flock one_byte(short type, uint64_t place) {
    flock lock{};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(place);
    lock.l_len = 1;
    return lock;
}

} // namespace

void hold_life(int descriptor, uint64_t place) {
    flock lock = one_byte(F_WRLCK, place);
    fcntl(descriptor, F_SETLK, &lock);
}

void drop_life(int descriptor, uint64_t place) {
    flock lock = one_byte(F_UNLCK, place);
    fcntl(descriptor, F_SETLK, &lock);
}

// The mode of the file outlives the process, unlike its locks.
void mark_in_use(int descriptor, bool in_use) {
    fchmod(descriptor, in_use ? S_IRUSR | S_IWUSR : 0);
}

bool is_in_use(int descriptor) {
    struct stat file{};
    return fstat(descriptor, &file) == 0 && (file.st_mode & S_IRUSR) != 0;
}

bool is_life_held(int descriptor, uint64_t place) {
    flock lock = one_byte(F_WRLCK, place);
    return fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

} // namespace aivops::machine
