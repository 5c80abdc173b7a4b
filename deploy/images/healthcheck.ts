/** The HEALTHCHECK of the images: exit code 0 when the service is ready for requests. */
const port = process.env['HEALTH_PORT'] || '9090';
try {
  const response = await fetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(4000) });
  console.log((await response.text()).slice(0, 500));
  process.exitCode = response.ok ? 0 : 1;
} catch (error) {
  console.log(error);
  process.exitCode = 1;
}
