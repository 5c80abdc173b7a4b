import { SNIFF_BYTES, sniffContainer } from '@vision/streams/container-format';
import { mayBeStream } from '../../../services/tasks/src/domain/stream-content.ts';
import { sniffImageType } from '../../../services/images/src/domain/image-type.ts';
import type { FuzzTarget } from '../target.ts';

/** The first bytes of whatever a stranger sends: a verdict on all of them, also on few. */
export const target: FuzzTarget = {
  maxBytes: SNIFF_BYTES + 8,
  check: (input) => {
    const type = input.toString('latin1', 0, 40);
    sniffContainer(input);
    sniffContainer(input, type);
    mayBeStream(input, type);
    sniffImageType(input);
  },
};
