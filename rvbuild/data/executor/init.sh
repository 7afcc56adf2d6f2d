# The first process of a container: runs one command and tells of its end on stderr, where the command
# itself writes nothing. Its input closes when rvbuild is gone, and so does the pipe that its first word
# names, even where the daemon was killed; then everything here ends.
exec 3<&0 </dev/null
alive=$1
shift
command -v "$1" >/dev/null || { echo missing >&2; exit 127; }
trap 'kill -TERM -1 2>/dev/null' TERM
{ read -r gone <&3; kill -KILL -1; } >/dev/null 2>&1 &
[ -z "$alive" ] || { read -r gone <"$alive"; rm -f "$alive"; kill -KILL -1; } >/dev/null 2>&1 3<&- &
"$@" 2>&1 3<&- &
child=$!
while :; do
  wait "$child"
  code=$?
  # A signal ends the wait too; the command may go on for a while then.
  kill -0 "$child" 2>/dev/null || break
done
echo "exit $code" >&2
