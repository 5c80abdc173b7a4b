/** A time zone in which it is half past two now, and its date: the guide asks for two to three. */
export function halfPastTwo(): { TZ: string; DAY: string } {
  const now = new Date();
  const ahead = 14 * 60 + 30 - (now.getUTCHours() * 60 + now.getUTCMinutes());
  const minutes = String(Math.abs(ahead) % 60).padStart(2, '0');
  // POSIX counts zones to the west as positive.
  const TZ = `UTC${ahead > 0 ? '-' : '+'}${Math.floor(Math.abs(ahead) / 60)}:${minutes}`;
  return { TZ, DAY: new Date(now.getTime() + ahead * 60_000).toISOString().slice(0, 10) };
}
