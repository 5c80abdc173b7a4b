import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { sandbox } from './sandbox.ts';

/** Perl in place of a reader, in the reader's sandbox: what a stranger's stream made of it. */
export function readerTakenOver(script: string): Sandbox {
  return {
    ...sandbox,
    spawn: (program, stdio) =>
      stdio.includes('ipc')
        ? sandbox.spawn({ ...program, program: 'perl', args: ['-e', `$| = 1; ${PRELUDE} ${script}`] }, stdio)
        : sandbox.spawn(program, stdio),
  };
}

/** `fact` says one; `orders` waits for so many of the service's. */
const PRELUDE = `
  sub fact { my $fact = shift; syswrite(STDOUT, pack("VV", 1, length $fact) . $fact) }
  sub orders {
    my ($wanted, $text) = (shift, "");
    $text .= received() while ($text =~ tr/\\n//) < $wanted;
    return $text;
  }
  sub received {
    my $data = "\\0" x 65536; my $control = "\\0" x 256;
    my $iov = pack("PQ", $data, 65536);
    my $message = pack("QLx4PQPQLx4", 0, 0, $iov, 1, $control, 256, 0);
    my $length = syscall(47, 4, $message, 0);
    exit if $length <= 0;
    return substr($data, 0, $length);
  }
  open(my $video, ">&=", 3);`;
