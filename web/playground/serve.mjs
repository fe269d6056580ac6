// Starts `brio playground --serve` of a build; `stop` ends it.
import { spawn } from 'node:child_process';
import { join } from 'node:path';

export function serve(build) {
  const server = spawn(join(build, 'brio'), ['playground', '--serve', '--print'],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.on('exit', () => reject(new Error('brio playground --serve has ended')));
    server.stdout.once('data', (said) =>
      resolve({ address: String(said).split('\n')[0], stop: () => server.kill('SIGINT') }));
  });
}
