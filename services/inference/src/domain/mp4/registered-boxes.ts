import { INTERPRETED } from './ffmpeg-boxes.ts';

/** Boxes and sample entry boxes of the registration authority (mp4ra.org, boxes.csv and boxes-qt.csv). */
const AUTHORITY = `2dqr 2dss ainf assp auxi avcn bidx bloc bmdm bpcc brob buff bxml ccid ccst cdef cinf clip cmap co64 coif
  coin colr covi crgn crhd csgp cslg cstb ctab ctts cvru dihd dinf dint dmon dref dsgd dstg edts elst emsg evti etyp
  Exif fdel feci fecr fidx fiin fire fovd fovi fpar free frma frpa ftyp fvsi gitn grpi grpl hdlr hmhd hpix icnu ID32
  idat ihdr iinf iloc imap imda imif infe infu iods ipco iphd ipma ipmc ipro iprp iref j2kH j2kP jbrd jp2c jp2h jp2i
  jumb jxll jxlc jxli jxlp jpvi jpvs jptp jxpl kmat leva load loop lrcu m7hd matt md5i mdat mdhd mdia mdri meco mehd
  meof mere mesh meta mfhd mfra mfro minf mjhd mmvi moof moov movd mstv mvcg mvci 3dpr mvex mvhd mvra nmhd ochd odaf
  odda odhd odhe odrb odrm odtt ohdr otcf otyp ovly padb paen pclr pdat pdin pfhd pfil pitm ploc pnot povd prfr prft
  pseg pshd pssh ptle resc resd rinf rotn rosc rvif rwpk saio saiz sbgp schi schm sdep sdhd sdtp sdvp segr seii senc
  sgpd sidx sinf skip smhd sprg srmb srmc srpp srqr ssix sstl stbl stco stdp sthd stmg strd stri stsc stsd stsg stsh
  stss stsz stti stts styp stz2 subs suep sumi surl swtc tenc tfad tfdt tfhd tfma tfra tibr tiri tkhd traf trak tref
  trep trex trgr trik trun tstb ttyp tyco udta uinf UITS ulst uuid v3sc vmhd vpbb vssn vunt vvhd vwdi wmpi !mof !mov
  !six !ssx iroi ldep rrgn svdr svip svpr tran vipr stvi hdlp albm auth clsf cprt csgm dcfD elng wide`;

/** What Apple's QuickTime format and cameras write besides; none of it is registered. */
const VENDORS = 'tapt gmhd rmra prfl PICT pict junk strk sefd frea inst beam mcvr GPMF';

const withBlank = ['url ', 'xml ', 'sdp ', 'res '];

/**
 * Boxes that are known and mean nothing to ffmpeg, so it steps over them at every position. Those that it interprets
 * are left out: the grammar names the places of each.
 */
export const STEPPED_OVER: ReadonlySet<string> = new Set(
  [...`${AUTHORITY} ${VENDORS}`.split(/\s+/), ...withBlank].filter((type) => !INTERPRETED.has(type)),
);
