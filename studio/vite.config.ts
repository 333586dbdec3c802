import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const port = process.env['PORT'] ?? '3000';
const engine = `http://127.0.0.1:${port}`;

export default defineConfig({
  base: '/studio/',
  cacheDir: '../node_modules/.cache/vite',
  plugins: [react()],
  build: {
    outDir: '../dist/studio',
    emptyOutDir: true,
    target: ['chrome125', 'firefox128', 'safari17.5'],
    // A data URL of a font or script would break the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { '/v1': engine, '/studio/settings.json': engine } },
});
