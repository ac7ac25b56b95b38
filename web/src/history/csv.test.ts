import { expect, it } from 'vitest';
import { csv } from './csv';

it('quotes what a spreadsheet would run', () => {
  const cells = ['=1+1', '+1', '-1', '-1.50', '-x', '@a', '\tx', '\rx', '\nx', 'a,b', 'a"b', '1.5'];
  expect(csv([cells])).toBe(`'=1+1,'+1,-1,-1.50,'-x,'@a,'\tx,"'\rx","'\nx","a,b","a""b",1.5\r\n`);
});
