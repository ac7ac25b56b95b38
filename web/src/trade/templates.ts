// The indicators and drawings that the first picture of a chart lacks. Importing this file registers them.

import { registerIndicator, registerOverlay } from 'klinecharts';
import { moreDrawings, moreIndicators } from 'klinecharts/more';

moreIndicators.forEach((template) => registerIndicator(template));
moreDrawings.forEach((template) => registerOverlay(template));
