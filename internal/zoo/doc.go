// Package zoo says which seeded bug is loose.
//
// Nothing of the product imports it. The tests of the package zoo at the top of
// the tree compile the product with the bugs of their testdata written into it,
// and what they write asks [Loose]. Without the build tag zoo there is nothing here.
package zoo
