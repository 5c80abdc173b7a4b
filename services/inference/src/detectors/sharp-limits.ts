import sharp from 'sharp';

// This process scales pixels and reads no image of strangers: no loader of libvips can be reached in it.
sharp.block({ operation: ['VipsForeignLoad'] });
// Images differ from call to call and parallelism comes from the calls, so libvips keeps no cache and no threads.
sharp.cache(false);
sharp.concurrency(1);

export { sharp };
