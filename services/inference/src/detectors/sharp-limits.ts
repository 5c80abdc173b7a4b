import sharp from 'sharp';

/** Pixels of the largest picture that is decoded. */
export const MAX_PIXELS = 50_000_000;

// Every process that reads pictures goes through this module, so no libvips loader but these three can ever be reached:
// SVG, TIFF, PDF and the rest stay shut even if a check before them fails.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'],
});
// Pictures differ from call to call and parallelism comes from the calls, so libvips keeps no cache and no threads.
sharp.cache(false);
sharp.concurrency(1);

export { sharp };
