import type { AttackGroup } from './attack.ts';
import { addresses } from './tables/addresses.ts';
import { alarms } from './tables/alarms.ts';
import { bodies } from './tables/bodies.ts';
import { issuedCursors } from './tables/cursors.ts';
import { forms } from './tables/forms.ts';
import { grammar } from './tables/grammar.ts';
import { paths, smuggling } from './tables/heads.ts';
import { idempotency } from './tables/idempotency.ts';
import { guessing, keys } from './tables/keys.ts';
import { backtests } from './tables/backtests.ts';
import { links } from './tables/links.ts';
import { nameAttacks } from './tables/names.ts';
import { operators } from './tables/operators.ts';
import { pictures } from './tables/pictures.ts';
import { cursors, ranges, tenants } from './tables/reads.ts';
import { services } from './tables/services.ts';
import { slow } from './tables/slow.ts';
import { turningStreams } from './tables/turning-streams.ts';
import { httpServers, rtmpServers, rtspServers } from './tables/streams.ts';
import { realVideos } from './tables/real-videos.ts';
import { videos } from './tables/videos.ts';
import { mqtt } from './tables/mqtt.ts';
import { webhooks } from './tables/webhooks.ts';
import { watchers } from './tables/watchers.ts';
import { watchingBounds } from './tables/watching-bounds.ts';
import { watching } from './tables/watching.ts';

/** All attacks, in the order in which they are tried. */
export const groups: readonly AttackGroup[] = [
  smuggling,
  paths,
  keys,
  guessing,
  services,
  bodies,
  idempotency,
  cursors,
  ranges,
  tenants,
  links,
  backtests,
  alarms,
  webhooks,
  mqtt,
  watchers,
  operators,
  addresses,
  grammar,
  nameAttacks,
  rtspServers,
  rtmpServers,
  httpServers,
  pictures,
  videos,
  realVideos,
  turningStreams,
  forms,
  slow,
  watching,
  watchingBounds,
  issuedCursors,
];
