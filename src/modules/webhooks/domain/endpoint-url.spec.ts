import { faultOfUrl, MAX_URL_LENGTH } from './endpoint-url';

const base = 'https://example.com/';

describe('the URL of an endpoint', () => {
  it.each([
    'https://example.com',
    'http://example.com/hooks',
    'HTTPS://Example.COM/hooks',
    'https://example.com:8443/hooks?token=a%20b&c=d',
    'https://example.com?x=1',
    'https://example.com/a@b?c=d@e',
    'https://bücher.example/ü',
    'https://例え.jp/',
    'https://example.com/%C3%bc',
    'http://127.0.0.1:3000/',
    'http://[::1]:3000/',
    base + 'a'.repeat(MAX_URL_LENGTH - base.length),
  ])('may be %s', (url) => {
    expect(faultOfUrl(url)).toBeNull();
  });

  it.each([
    ['http:// or https://', ''],
    ['http:// or https://', 'example.com'],
    ['http:// or https://', '//example.com'],
    ['http:// or https://', '/hooks'],
    ['http:// or https://', 'ftp://example.com'],
    ['http:// or https://', 'file:///etc/passwd'],
    ['http:// or https://', 'javascript:alert(1)'],
    ['http:// or https://', 'https:example.com'],
    ['http:// or https://', 'https:/example.com'],
    ['http:// or https://', 'https:///example.com'],
    ['http:// or https://', 'https://'],
    ['http:// or https://', 'https://?x'],
    ['user name or password', 'https://user:secret@example.com'],
    ['user name or password', 'https://user@example.com'],
    ['user name or password', 'https://@example.com'],
    ['user name or password', 'https://:@example.com'],
    ['user name or password', 'https://example.com:80@10.0.0.1/'],
    ['fragment', 'https://example.com/#part'],
    ['fragment', 'https://example.com#'],
    ['spaces', ' https://example.com'],
    ['spaces', 'https://example.com/a b'],
    ['spaces', 'https://exam\nple.com'],
    ['spaces', 'https://example.com/\t'],
    ['spaces', 'https://example.com\u00a0'],
    ['spaces', 'https://example.com/\u007f'],
    ['spaces', 'https:\\\\example.com'],
    ['spaces', 'https://example.com\\@10.0.0.1/'],
    ['valid host and port', 'https://example.com:65536/'],
    ['valid host and port', 'https://example.com:x/'],
    ['valid host and port', 'https://exa%mple.com/'],
    ['valid host and port', 'https://[::1/'],
    ['valid host and port', 'https://256.256.256.256/'],
    ['valid host and port', 'https://:443/'],
    ['hexadecimal digits', 'https://example.com/%zz'],
    ['hexadecimal digits', 'https://example.com/?rate=5%'],
    ['hexadecimal digits', 'https://example.com/%a'],
    [`${MAX_URL_LENGTH} characters`, `${base}${'a'.repeat(MAX_URL_LENGTH - base.length + 1)}`],
  ])('is refused (%s): %j', (message, url) => {
    const fault = faultOfUrl(url);
    expect(fault?.message).toContain(message);
    expect(fault?.message).not.toContain('secret');
  });
});
