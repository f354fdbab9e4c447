graph [
 directed 0
 node [ id 1 label "a" class 0 x 1.5 ]
 node [ id 2 label "b" class 1 ]
 edge [ source 1 target 2 weight 2.0 ]
]
