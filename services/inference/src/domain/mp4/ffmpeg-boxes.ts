const words = (text: string) => new Set(text.trim().split(/\s+/));

/**
 * Boxes that ffmpeg interprets at every position: the table `mov_default_parse_table` of libavformat 5.1 to 7.1,
 * and the types that its reader compares by hand. Each stands in the grammar at the places where we validate it, and is
 * refused everywhere else.
 */
export const INTERPRETED: ReadonlySet<string> = words(`
  ACLR APRG AALP ARES avss av1C chpl co64 colr ctts dinf DpxE dref edts elst enda fiel adrm ftyp glbl hdlr ilst jp2h
  mdat mdhd mdia meta minf moof moov mvex mvhd alac avcC pasp clap sbas sidx stbl stco stps strf stsc stsd stss stsz
  stts stz2 sdtp tkhd tfdt tfhd trak traf tref tmcd chap trex trun udta wave esds dac3 dec3 ddts wide wfex cmov chan
  chnl dvc1 sgpd sbgp hvcC lhvC vvcC evcC lvcC apvC uuid free ---- sinf frma senc saiz saio pssh schm schi tenc dfLa
  st3d sv3d vexu hfov dOps dmlp SmDm CoLL vpcC mdcv clli dvcC dvvC dvwC kind SA3D SAND iloc infe iinf iref ispe irot
  imir iprp ipco ipma idat grpl pcmC pitm iacb SRAT amve hoov keys`);

/**
 * Boxes that describe samples. A sample description is read by several rules, of which ffmpeg chooses one by the
 * handler, the brand and the version; so no byte of it may spell one of these, at any position.
 */
export const STRUCTURAL: ReadonlySet<string> = words(`
  moov moof trak traf mdat cmov hoov mvhd tkhd mdhd hdlr elst stts ctts stsc stsz stz2 stco co64 stss stps stsd sdtp
  sgpd sbgp trex trun tfhd tfdt sidx dref covr iloc iinf`);
