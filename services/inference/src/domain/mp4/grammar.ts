import { INTERPRETED } from './ffmpeg-boxes.ts';
import { STEPPED_OVER } from './registered-boxes.ts';

/** Where a box stands: the boxes that may stand there. */
export type Place =
  | 'file'
  | 'moov'
  | 'trak'
  | 'edts'
  | 'mdia'
  | 'minf'
  | 'dinf'
  | 'stbl'
  | 'mvex'
  | 'moof'
  | 'traf'
  | 'tref'
  | 'udta'
  | 'meta'
  | 'ilst';

interface Rule {
  /** Boxes that ffmpeg interprets and that are validated here; the others of this place it steps over. */
  interpreted: string;
  /** At most one of each: ffmpeg would take the last, or both. */
  once?: string;
  /** User data: types are names of values, so any type is taken that ffmpeg does not interpret. */
  isNamed?: boolean;
}

const RULES: Record<Place, Rule> = {
  file: { interpreted: 'ftyp moov moof mdat free wide uuid sidx meta udta', once: 'moov' },
  moov: { interpreted: 'mvhd trak mvex udta meta free wide uuid pssh', once: 'mvhd mvex' },
  trak: { interpreted: 'tkhd edts mdia tref udta meta free wide uuid', once: 'tkhd edts mdia tref' },
  edts: { interpreted: 'elst free', once: 'elst' },
  mdia: { interpreted: 'mdhd hdlr minf udta meta free uuid', once: 'mdhd hdlr minf' },
  minf: { interpreted: 'hdlr dinf stbl free uuid', once: 'hdlr dinf stbl' },
  dinf: { interpreted: 'dref free', once: 'dref' },
  stbl: {
    interpreted: 'stsd stts ctts stsc stsz stz2 stco co64 stss stps sdtp sgpd sbgp saiz saio senc free uuid',
    once: 'stsd stts ctts stsc stsz stz2 stco co64 stss stps',
  },
  mvex: { interpreted: 'trex free uuid' },
  moof: { interpreted: 'traf pssh meta free uuid' },
  traf: { interpreted: 'tfhd tfdt trun sdtp sgpd sbgp saiz saio senc meta udta free uuid', once: 'tfhd tfdt' },
  tref: { interpreted: 'chap tmcd sbas', isNamed: true },
  udta: { interpreted: 'meta chpl kind free uuid', isNamed: true },
  meta: { interpreted: 'hdlr ilst keys free uuid', once: 'hdlr keys' },
  ilst: { interpreted: '---- free', isNamed: true },
};

/** Boxes whose contents are boxes; `meta` has its own rule for where they begin. */
const PLACES = new Set<string>(Object.keys(RULES));
export const isPlace = (type: string): type is Place => PLACES.has(type) && type !== 'file';

const words = (text = '') => new Set(text.split(' '));
const TABLE = new Map(
  Object.entries(RULES).map(([place, { interpreted, once, isNamed = false }]) => [
    place,
    { interpreted: words(interpreted), once: words(once), isNamed },
  ]),
);
const NOWHERE = { interpreted: new Set<string>(), once: new Set<string>(), isNamed: false };

/** Whether ffmpeg interprets the box here, steps over it, or it is none that we let pass. */
export function ruleFor(place: Place, type: string): 'interpreted' | 'stepped_over' | 'refused' {
  const { interpreted, isNamed } = TABLE.get(place) ?? NOWHERE;
  if (interpreted.has(type)) return 'interpreted';
  if (isNamed) return INTERPRETED.has(type) ? 'refused' : 'stepped_over';
  return STEPPED_OVER.has(type) ? 'stepped_over' : 'refused';
}

/** Whether a second one of it at the same place is refused. */
export const isSingle = (place: Place, type: string): boolean => (TABLE.get(place) ?? NOWHERE).once.has(type);
